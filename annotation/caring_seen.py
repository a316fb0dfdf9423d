"""What an admin sees of care: the locks that stand, those not looked at first, and the reports that are open."""

from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.utils.translation import gettext

from annotation.models import Conversation, ConversationLock, ConversationReport, LockDecision, Study, User


@dataclass(slots=True)
class SeenLock:
    """A lock with what was decided about it, in order; ``is_new``: nobody has looked at it yet."""

    lock: ConversationLock
    decisions: list[LockDecision] = field(default_factory=list)

    @property
    def is_new(self) -> bool:
        return not self.decisions

    @property
    def is_standing(self) -> bool:
        return all(this.decision != LockDecision.Decision.RELEASED for this in self.decisions)


@dataclass(frozen=True, slots=True)
class Care:
    """``locks`` and ``reports`` that wait for an admin, or of one conversation all that there were."""

    locks: list[SeenLock]
    reports: list[ConversationReport]

    @property
    def is_empty(self) -> bool:
        return not self.locks and not self.reports

    @property
    def standing(self) -> SeenLock | None:
        return next((this for this in self.locks if this.is_standing), None)


def care_of_study(study: Study) -> Care:
    """The locks that stand in a study, new ones first, and the reports that nobody has closed. Three queries."""
    locks = ConversationLock.objects.standing().filter(conversation__study=study)
    seen = _seen(locks)
    reports = ConversationReport.objects.filter(conversation__study=study, closings=None)
    return Care(
        sorted(seen, key=lambda this: (not this.is_new, this.lock.locked_at, this.lock.id)),
        list(reports.select_related("conversation", "reported_by").order_by("reported_at", "id")),
    )


def care_of_conversation(conversation: Conversation) -> Care:
    """All that was locked and reported in a conversation, the newest first. Four queries."""
    seen = _seen(ConversationLock.objects.filter(conversation=conversation))
    reports = ConversationReport.objects.filter(conversation=conversation).select_related("reported_by")
    return Care(
        sorted(seen, key=lambda this: (this.lock.locked_at, this.lock.id), reverse=True),
        list(reports.prefetch_related("closings__closed_by").order_by("-reported_at", "id")),
    )


def _seen(locks: "QuerySet[ConversationLock]") -> list[SeenLock]:
    rows = {this.id: SeenLock(this) for this in locks.select_related("conversation", "locked_by")}
    decisions = LockDecision.objects.filter(lock__in=rows).select_related("decided_by")
    for decision in decisions.order_by("decided_at", "id"):
        rows[decision.lock_id].decisions.append(decision)
    return list(rows.values())


def find_to_care_for(study: Study, conversation_id: UUID) -> Conversation:
    """A conversation of the study that any member may speak up about; Http404 else.

    Who judges responses reads conversations that are not assigned to them: care asks for no assignment. Nothing of
    the conversation is told.
    """
    found = Conversation.objects.filter(study=study, pk=conversation_id, undone_at=None).first()
    if found is None:
        raise Http404(gettext("There is no such conversation in this study."))
    found.study = study
    return found


def find_report(study: Study, report_id: UUID) -> ConversationReport:
    """A report of the study; Http404 else."""
    rows = ConversationReport.objects.filter(conversation__study=study).select_related("conversation")
    found = rows.filter(pk=report_id).first()
    if found is None:
        raise Http404(gettext("There is no such report in this study."))
    return found


def name_for(person: User, conversation: Conversation, *, capital: bool = False) -> str:
    """What a conversation is called to a person: its id where it is theirs to see."""
    if Conversation.objects.visible_to(person).filter(pk=conversation.pk).exists():
        return conversation.external_id
    return gettext("This conversation") if capital else gettext("this conversation")
