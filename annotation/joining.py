"""Studies and their people: a study is made with its policy; a person joins with a role, consents, leaves."""

import hashlib
from collections.abc import Collection, Iterable
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.core.validators import validate_email, validate_slug
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotation.assigning import hand_work_over
from annotation.conflicts import as_conflicts
from annotation.consensus import ALL_CATEGORIES, PRESETS
from annotation.languages_and_countries import check_country, check_language
from annotation.locks import hold_study
from annotation.models import Consent, Membership, Policy, Role, Study, TextClass, User
from annotation.rounds import settle, settle_if_due
from consilium.errors import RuleViolation


class SlugIsTaken(RuleViolation):
    """A study with this short name exists already."""


class SlugIsUnreadable(RuleViolation):
    """A study's short name has letters, digits, hyphens and underscores only, at most 60."""


class AddressIsUnreadable(RuleViolation):
    """ "{email}" is not an e-mail address."""


class StudyNeedsAName(RuleViolation):
    """A study has a name, of at most 200 characters."""


class TooLong(RuleViolation):
    """Expected a {what} of at most {longest} characters, found {found}."""


class UnknownPreset(RuleViolation):
    """A policy is three-agree or two-of-three."""


class IdentifiableTexts(RuleViolation):
    """Texts that identify people are refused: a study's texts are synthetic, public or de-identified."""


class AttestationMissing(RuleViolation):
    """De-identified texts need a recorded attestation: who de-identified them, how, and when."""


class NobodyByThisAddress(RuleViolation):
    """Nobody in this study has the address "{email}"."""


class LastAdminStays(RuleViolation):
    """{person} is the study's only admin, and it needs one. Make somebody else an admin first."""


LONGEST_STUDY_NAME = 200
LONGEST = {"email": 254, "name": 200, "profession": 100, "speciality": 100}
"""How many characters each of a person's facts may have."""
WORDS = {
    "email": _("mail address"),
    "name": _("name"),
    "profession": _("profession"),
    "speciality": _("speciality"),
}
"""What each of them is called."""


class NoConsentText(RuleViolation):
    """This study has no consent text: there is nothing to accept."""


class ConsentTextChanged(RuleViolation):
    """The consent text was changed meanwhile. Read it again before you accept it."""


def find_person(email: str) -> User | None:
    """A person by address, in any letter case."""
    return User.objects.filter(email__iexact=email.strip()).first()


def create_study(
    *,
    slug: str,
    name: str,
    preset: str = "three-agree",
    text_class: str = TextClass.SYNTHETIC,
    attestation: str = "",
    by: User | None = None,
    like: Policy | None = None,
    **facts: object,
) -> Study:
    """Make a study with version 1 of its policy: one of the presets, or what ``like`` says, another study's policy.

    ``by`` becomes its admin.
    """
    try:
        validate_slug(slug)
    except ValidationError as error:
        raise SlugIsUnreadable from error
    if len(slug) > 60:
        raise SlugIsUnreadable
    if not 0 < len(name.strip()) <= LONGEST_STUDY_NAME:
        raise StudyNeedsAName
    if text_class not in TextClass.values:
        raise IdentifiableTexts
    if text_class == TextClass.DE_IDENTIFIED and not attestation.strip():
        raise AttestationMissing
    policy = _policy_like(like) if like is not None else preset_policy(preset)
    policy.created_by = by
    try:
        with transaction.atomic():
            study = Study.objects.create(
                slug=slug,
                name=name.strip(),
                text_class=text_class,
                attestation=attestation,
                created_by=by,
                **facts,
            )
            policy.study = study
            policy.save(force_insert=True)
            if by is not None:
                Membership.objects.create(study=study, user=by, roles=[Role.ADMIN])
    except IntegrityError as error:
        raise SlugIsTaken from error
    return study


def preset_policy(preset: str) -> Policy:
    """A preset as version 1 of a study's policy, not saved. Raises UnknownPreset."""
    rule = PRESETS.get(preset)
    if rule is None:
        raise UnknownPreset
    return Policy(
        version=1,
        preset=preset,
        min_reviewed=rule.min_reviewed,
        min_agree=rule.min_agree,
        min_ratio=Decimal(rule.min_ratio.numerator) / Decimal(rule.min_ratio.denominator),
        points_tolerance=rule.points_tolerance,
        blocks=[category for category in ALL_CATEGORIES if category in rule.blocks],
    )


def _policy_like(other: Policy) -> Policy:
    """Another study's policy as version 1 of this one's, not saved."""
    own = {"id", "study", "version", "created_at", "created_by"}
    fields = [field.name for field in Policy._meta.concrete_fields if field.name not in own]
    return Policy(version=1, **{name: getattr(other, name) for name in fields})


def add_member(
    *,
    study: Study,
    email: str,
    roles: Collection[str],
    name: str = "",
    languages: Iterable[str] = (),
    country: str = "",
    profession: str = "",
    speciality: str = "",
    conflicts: Iterable[str] = (),
    is_licence_checked: bool = False,
    by: User | None = None,
) -> Membership:
    """Add a person to a study, or a role to a member. An unknown person is made; no mail is sent.

    What a known person has declared of themselves stays; only what is still empty is filled in. Conflicts come beside
    those that are known; ``by`` is who says that the licence was checked.
    """
    address = email.strip()
    _check_length("email", address)
    try:
        validate_email(address)
    except ValidationError as error:
        raise AddressIsUnreadable(email=email) from error
    declared = {
        "name": name.strip(),
        "languages": [language.strip() for language in languages if language.strip()],
        "country": country.strip().upper(),
        "profession": profession.strip(),
        "speciality": speciality.strip(),
    }
    for field in ("name", "profession", "speciality"):
        _check_length(field, str(declared[field]))
    for language in declared["languages"]:
        check_language(language)
    if declared["country"]:
        check_country(str(declared["country"]))
    with transaction.atomic():
        hold_study(study.id)
        person = find_person(address)
        if person is None:
            try:
                with transaction.atomic():
                    person = User.objects.create_user(address, **declared)
            except IntegrityError:  # somebody else made the same person in this moment
                person = User.objects.get(email__iexact=address)
        missing = [field for field, value in declared.items() if value and not getattr(person, field)]
        for field in missing:
            setattr(person, field, declared[field])
        if missing:
            person.save(update_fields=missing)
        membership, is_new = Membership.objects.get_or_create(
            study=study, user=person, defaults={"roles": sorted(set(roles))}
        )
        if not is_new:
            membership.roles = sorted({*membership.roles, *roles})
            membership.left_at = None
            membership.save(update_fields=["roles", "left_at"])
        if words := list(conflicts):
            membership.conflicts = as_conflicts([*membership.conflicts, *words])
            membership.save(update_fields=["conflicts"])
        if is_licence_checked and membership.licence_checked_at is None:
            membership.licence_checked_at, membership.licence_checked_by = timezone.now(), by
            membership.save(update_fields=["licence_checked_at", "licence_checked_by"])
    return membership


def _check_length(field: str, text: str) -> None:
    if len(text) > LONGEST[field]:
        raise TooLong(what=WORDS[field], longest=LONGEST[field], found=len(text))


def is_last_admin(membership: Membership) -> bool:
    """Whether the study would have no admin who can sign in without this person."""
    if Role.ADMIN not in membership.roles:
        return False
    others = Membership.objects.filter(
        study_id=membership.study_id, left_at=None, roles__contains=[Role.ADMIN], user__is_active=True
    )
    return not others.exclude(pk=membership.pk).exists()


def must_keep_an_admin(membership: Membership) -> None:
    """Raise LastAdminStays where the study's only admin would go. To be called while the study is held."""
    if is_last_admin(membership):
        raise LastAdminStays(person=str(membership.user))


def leave_study(*, study: Study, person: User) -> Membership:
    """A person leaves: votes in revealed rounds stay, those in open rounds no longer count; others get the work.

    Raises NobodyByThisAddress, LastAdminStays.
    """
    with transaction.atomic():
        hold_study(study.id)
        membership = Membership.objects.filter(study=study, user=person, left_at=None).first()
        if membership is None:
            raise NobodyByThisAddress(email=person.email)
        must_keep_an_admin(membership)
        settle_if_due(study)
        membership.left_at = timezone.now()
        membership.save(update_fields=["left_at"])
        hand_work_over(study=study, person=person)
        settle(study)
    return membership


def must_consent(study: Study, person: User) -> bool:
    """Whether the study has a consent text that this person has not accepted in its present version."""
    if not study.consent_text.strip():
        return False
    return not Consent.objects.filter(study=study, user=person, text_version=study.consent_version).exists()


def accept_consent(*, study: Study, person: User, seen: int | None = None) -> Consent:
    """Record that a person accepted the study's consent text, its version and the time.

    ``seen`` is the version that the person read (None: the present one). Raises NoConsentText, ConsentTextChanged.
    """
    if not study.consent_text.strip():
        raise NoConsentText
    if seen is not None and seen != study.consent_version:
        raise ConsentTextChanged
    digest = hashlib.sha256(study.consent_text.encode()).hexdigest()
    consent, _ = Consent.objects.get_or_create(
        study=study, user=person, text_version=study.consent_version, defaults={"text_sha256": digest}
    )
    return consent
