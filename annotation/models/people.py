"""People, and what they are in a study.

A person signs in by e-mail, in any letter case. One person may be in several studies and hold several roles in one.
People with votes are deactivated, never deleted.
"""

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from consilium.guards import never_changes
from consilium.identified import Identified

if TYPE_CHECKING:
    from annotation.models.studies import Study


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)

    def create_user(self, email: str, **facts: Any) -> "User":
        user = self.model(email=email.strip(), **facts)
        user.set_unusable_password()
        user.save(using=self._db)
        return user


class Digests(models.TextChoices):
    """How often a person wants to hear by mail of what waits; off: not at all, and of no date either."""

    OFF = "off", _("never")
    DAILY = "daily", _("each day")
    WEEKLY = "weekly", _("each Monday")


class User(Identified, AbstractBaseUser):
    email = models.EmailField(max_length=254)
    name = models.CharField(max_length=200, blank=True)
    languages = ArrayField(
        models.CharField(max_length=35),
        default=list,
        blank=True,
        help_text="BCP 47 tags of the languages that this person reads; none declared means all.",
    )
    country = models.CharField(max_length=2, blank=True)
    profession = models.CharField(max_length=100, blank=True)
    speciality = models.CharField(max_length=100, blank=True)
    time_zone = models.CharField(max_length=64, blank=True, help_text="As America/Mexico_City; not said: UTC.")
    page_language = models.CharField(
        max_length=35, blank=True, help_text="Of pages and mail, one of those that the site has; not said: the site's."
    )
    digests = models.CharField(max_length=10, choices=Digests, default=Digests.WEEKLY)
    is_active = models.BooleanField(default=True)
    joined_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                name="one_person_an_address_in_any_letter_case",
                violation_error_message=_("Somebody with this e-mail address is known already."),
            ),
            models.CheckConstraint(
                condition=models.Q(digests__in=Digests.values), name="digests_come_never_daily_or_weekly"
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.email


class Role(models.TextChoices):
    CLINICIAN = "clinician", _("clinician")
    ADMIN = "admin", _("admin")
    RESEARCHER = "researcher", _("researcher")


def holds_each_role_once() -> models.Q:
    """As many roles as different ones. A constraint can't count what is distinct, and so counts each of them."""
    counts = [
        models.Case(models.When(roles__contains=[role], then=1), default=0, output_field=models.IntegerField())
        for role in Role.values
    ]
    return models.Q(roles__len=sum(counts[1:], start=counts[0]))


class Membership(Identified):
    """A person in a study, with one or more roles; ``left_at`` says since when no longer active in it.

    Conflicts of interest are words, each the id or a tag of conversations that this person does not review.
    """

    study = models.ForeignKey("annotation.Study", on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    roles = ArrayField(models.CharField(max_length=20, choices=Role))
    joined_at = models.DateTimeField(auto_now_add=True)
    left_at = models.DateTimeField(null=True, blank=True)
    conflicts = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        help_text="Each the id or a tag of conversations that this person does not review.",
    )
    licence_checked_at = models.DateTimeField(null=True, blank=True)
    licence_checked_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    paused_until = models.DateField(
        null=True, blank=True, help_text="The first day on which new conversations are assigned again."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user"], name="one_membership_a_person_and_study"),
            models.CheckConstraint(
                condition=models.Q(roles__len__gte=1) & models.Q(roles__contained_by=list(Role.values)),
                name="a_member_is_clinician_admin_or_researcher",
            ),
            models.CheckConstraint(condition=holds_each_role_once(), name="a_member_holds_a_role_once"),
            models.CheckConstraint(condition=~models.Q(conflicts__contains=[""]), name="a_conflict_names_something"),
            models.CheckConstraint(
                condition=models.Q(licence_checked_by=None) | models.Q(licence_checked_at__isnull=False),
                name="who_checked_a_licence_did_so_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.study}"


class Consent(Identified):
    """A person accepted a study's consent text: which version of it, and when."""

    study: "models.ForeignKey[Study, Study]" = models.ForeignKey(
        "annotation.Study", on_delete=models.PROTECT, related_name="consents"
    )
    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="consents")
    text_version = models.PositiveSmallIntegerField()
    text_sha256 = models.CharField(max_length=64)
    accepted_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user", "text_version"], name="a_text_is_accepted_once"),
        ]
        triggers = never_changes()

    def __str__(self) -> str:
        return f"{self.user} accepted version {self.text_version} in {self.study}"
