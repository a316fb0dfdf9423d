"""Setting a study up: the texts that its people read, its axes and languages, and what its texts are.

Every setting can be changed at any time. A changed consent text is a new version of it, and everybody is asked again;
what was accepted before stays recorded. An axis that is taken away stays on the criteria that have it. The legal basis
for graders outside this machine is kept with who recorded it and when.

Two admins at once overwrite nothing: a write names the settings that it was made against, by their hashes.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.joining import AttestationMissing, IdentifiableTexts, StudyNeedsAName
from annotation.languages_and_countries import check_language
from annotation.locks import lock_study_row, share_study
from annotation.models import Demand, Membership, Study, TextClass, User
from annotation.reviewer_rules import clean_rules
from consilium.canonical import canonical_line, normal_text, sha256_hex
from consilium.errors import RuleViolation

SETTINGS = (
    "name",
    "what_to_expect",
    "support_contact",
    "consent_text",
    "guidelines",
    "axes",
    "languages",
    "text_class",
    "attestation",
    "outside_endpoints_basis",
    "is_not_for_public_text",
    "topics",
    "emergent_in_a_row",
    "care_lead",
    "reviewers_by_rule",
    "demands",
)
"""What an admin sets, in the order in which it is asked."""

LONGEST = {"name": 200, "axis": 100, "topic": 200}
MOST_EMERGENT_IN_A_ROW = 50
_RECORDED = re.compile(r"\n\nRecorded by (?P<by>[^\n]+) on (?P<on>[^\n]+)\.\Z")


class StudyNeedsAnAxis(RuleViolation):
    """A study has at least one axis."""


class AxisIsUnreadable(RuleViolation):
    """An axis is named in at most 100 characters, on one line."""


class TopicIsUnreadable(RuleViolation):
    """A topic is named in at most 200 characters, on one line."""


class TooManyInARow(RuleViolation):
    """Emergent conversations in a row: a whole number from 0, no limit, to 50."""


class UnknownDemand(RuleViolation):
    """A study can demand that reviewers share a conversation's country, profession or speciality."""


class CareLeadIsNoMember(RuleViolation):
    """The care lead is a member of the study: add "{email}" to its members first."""


class TextCantBeKept(RuleViolation):
    """The text holds a character that can't be kept (NUL). Take it out."""


class SettingsChangedMeanwhile(RuleViolation):
    """Somebody else changed the same settings while you wrote. Nothing is lost: both texts are shown."""

    def __init__(self, fields: Collection[str]) -> None:
        super().__init__()
        self.fields = list(fields)


@dataclass(frozen=True, slots=True)
class Missing:
    """What a study lacks before anybody begins: in words, and the setting's name."""

    words: str
    setting: str


def set_up_study(*, study: Study, by: User | None, seen: Mapping[str, str] | None = None, **facts: Any) -> list[str]:
    """Change those settings that ``facts`` name, all or none. Returns the names of those that changed.

    ``seen`` holds the hashes (``hashes_of``) of the settings that the write was made against: what it leaves as it
    was seen is not written, and what both changed raises SettingsChangedMeanwhile. Without it everything given is
    written. Raises also what an unreadable setting raises.
    """
    unknown = facts.keys() - set(SETTINGS)
    if unknown:
        raise TypeError(f"A study has no setting {', '.join(sorted(unknown))}.")
    given = {name: clean_setting(name, value) for name, value in facts.items()}
    with transaction.atomic():
        share_study(study.id)
        now = lock_study_row(study)
        current = settings_of(now)
        if seen is not None:
            given = {name: value for name, value in given.items() if hash_of(value) != seen.get(name)}
            stale = [
                name
                for name, value in given.items()
                if seen.get(name) != hash_of(current[name]) and value != current[name]
            ]
            if stale:
                raise SettingsChangedMeanwhile(stale)
        changed = [name for name in SETTINGS if name in given and given[name] != current[name]]
        after = {**current, **given}
        if after["text_class"] == TextClass.DE_IDENTIFIED and not after["attestation"]:
            raise AttestationMissing
        if "care_lead" in changed:
            _check_care_lead(now, after["care_lead"])
        for name in changed:
            setattr(now, name, after[name])
        if "outside_endpoints_basis" in changed:
            now.outside_endpoints_basis = _recorded(now.outside_endpoints_basis, by)
        fields = list(changed)
        if "consent_text" in changed and current["consent_text"]:
            now.consent_version += 1
            fields.append("consent_version")
        if fields:
            now.save(update_fields=fields)
    for name in fields:
        setattr(study, name, getattr(now, name))
    return changed


def settings_of(study: Study) -> dict[str, Any]:
    """A study's settings by name, as they are typed."""
    values = {name: getattr(study, name) for name in SETTINGS}
    values["outside_endpoints_basis"] = basis_as_typed(study.outside_endpoints_basis)
    return values


def hashes_of(study: Study) -> dict[str, str]:
    """What a write of settings names as seen: a short hash of each."""
    return {name: hash_of(value) for name, value in settings_of(study).items()}


def missing_before_start(study: Study) -> list[Missing]:
    """What a study's people should find before the first text, and don't yet. A consent text is the study's choice."""
    wanted = (
        ("what_to_expect", "Say what to expect of the texts, before anybody reads the first one."),
        ("support_contact", "Name somebody to talk to."),
    )
    return [Missing(words, name) for name, words in wanted if not getattr(study, name).strip()]


def basis_as_typed(basis: str) -> str:
    """The legal basis without the line that says who recorded it and when."""
    return _RECORDED.sub("", basis)


def basis_recorded(basis: str) -> str:
    """Who recorded the legal basis and when, in words; '' where it isn't told."""
    found = _RECORDED.search(basis)
    return found[0].strip() if found else ""


def _recorded(basis: str, by: User | None) -> str:
    if not basis:
        return ""
    who = f"{by} ({by.email})" if by is not None and by.name else by.email if by is not None else "command line"
    return f"{basis}\n\nRecorded by {who} on {timezone.now():%d %B %Y, %H:%M} UTC."


def hash_of(value: object) -> str:
    """The short hash of a setting as it is kept."""
    return sha256_hex(canonical_line(value))[:16]


def clean_setting(name: str, value: Any) -> Any:
    """A setting as it is kept; raises the refusal of one that can't be."""
    if name == "is_not_for_public_text":
        return bool(value)
    if name == "axes":
        return _clean_axes(value)
    if name == "languages":
        return _clean_languages(value)
    if name == "topics":
        return _clean_topics(value)
    if name == "emergent_in_a_row":
        return _clean_in_a_row(value)
    if name == "reviewers_by_rule":
        return clean_rules(value)
    if name == "demands":
        return _clean_demands(value)
    if name == "care_lead":
        return _clean_text(value).strip().lower()
    text = _clean_text(value)
    if name == "name" and not 0 < len(text) <= LONGEST["name"]:
        raise StudyNeedsAName
    if name == "text_class" and text not in TextClass.values:
        raise IdentifiableTexts
    if name == "outside_endpoints_basis":
        return basis_as_typed(text)
    return text


def _clean_text(value: str) -> str:
    """Text as it was typed, in NFC and with line ends as LF, without blank lines around it."""
    if "\x00" in value:
        raise TextCantBeKept
    text = normal_text(value).strip("\n").rstrip()
    return text if text.strip() else ""


def _clean_axes(value: Collection[str]) -> list[str]:
    axes = [" ".join(_clean_text(axis).split(" ")).strip() for axis in value]
    axes = list(dict.fromkeys(axis for axis in axes if axis))
    if not axes:
        raise StudyNeedsAnAxis
    if any(len(axis) > LONGEST["axis"] or "\n" in axis for axis in axes):
        raise AxisIsUnreadable
    return axes


def _clean_topics(value: Collection[str]) -> list[str]:
    topics = [" ".join(_clean_text(topic).split(" ")).strip() for topic in value]
    topics = list(dict.fromkeys(topic for topic in topics if topic))
    if any(len(topic) > LONGEST["topic"] or "\n" in topic for topic in topics):
        raise TopicIsUnreadable
    return topics


def _clean_in_a_row(value: Any) -> int:
    """A number; nothing said is what a study begins with."""
    if value is None:
        return int(Study._meta.get_field("emergent_in_a_row").get_default())
    if not isinstance(value, int) or not 0 <= value <= MOST_EMERGENT_IN_A_ROW:
        raise TooManyInARow
    return value


def _clean_demands(value: Collection[str]) -> list[str]:
    wanted = {each.strip().lower() for each in value if each.strip()}
    if not wanted <= set(Demand.values):
        raise UnknownDemand
    return [each for each in Demand.values if each in wanted]


def _check_care_lead(study: Study, email: str) -> None:
    members = Membership.objects.filter(study=study, left_at=None, user__is_active=True)
    if email and not members.filter(user__email__iexact=email).exists():
        raise CareLeadIsNoMember(email=email)


def _clean_languages(value: Collection[str]) -> list[str]:
    tags = list(dict.fromkeys(tag.strip() for tag in value if tag.strip()))
    for tag in tags:
        check_language(tag)
    return tags
