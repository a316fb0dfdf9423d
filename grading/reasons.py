"""Why a pair is unscored: the reply's own reasons, and those of pairs that no reply could decide."""

from enum import StrEnum

from django.utils.translation import gettext, gettext_noop

from grading.replies import UnscoredReason
from grading.told_again import reason_in_words


class NoReplyReason(StrEnum):
    """Why there is no reply that could be read. The values are stored; `sentence` is what a reader of a page sees."""

    CONTEXT_EXCEEDED = "context_exceeded"
    NOT_ACCEPTED = "not_accepted"
    ENDPOINT_FAULT = "endpoint_fault"
    OUTCOME_UNKNOWN = "outcome_unknown"
    TEXT_REMOVED = "text_removed"
    SCALE_NOT_GRADED = "scale_not_graded"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    NoReplyReason.CONTEXT_EXCEEDED: gettext_noop("The texts are longer than the model's context; nothing was cut."),
    NoReplyReason.NOT_ACCEPTED: gettext_noop("The endpoint does not accept this call."),
    NoReplyReason.ENDPOINT_FAULT: gettext_noop("The endpoint had a fault each time that it was asked."),
    NoReplyReason.OUTCOME_UNKNOWN: gettext_noop("The calls broke off too often before an answer came."),
    NoReplyReason.TEXT_REMOVED: gettext_noop("The text was removed from the version."),
    NoReplyReason.SCALE_NOT_GRADED: gettext_noop("Only criteria that are met or not met can be graded so far."),
}


def sentence_for(reason: str) -> str:
    """The sentence of a grade's stored reason, in the reader's language; the reason itself where it is none of ours."""
    if reason in set(UnscoredReason):
        return reason_in_words(UnscoredReason(reason).sentence)
    return gettext(NoReplyReason(reason).sentence) if reason in set(NoReplyReason) else reason
