"""Why a pair is unscored: the reply's own reasons, and those of pairs that no reply could decide."""

from enum import StrEnum

from grading.replies import UnscoredReason


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
    NoReplyReason.CONTEXT_EXCEEDED: "The texts are longer than the model's context; nothing was cut.",
    NoReplyReason.NOT_ACCEPTED: "The endpoint does not accept this call.",
    NoReplyReason.ENDPOINT_FAULT: "The endpoint had a fault each time that it was asked.",
    NoReplyReason.OUTCOME_UNKNOWN: "The calls broke off too often before an answer came.",
    NoReplyReason.TEXT_REMOVED: "The text was removed from the version.",
    NoReplyReason.SCALE_NOT_GRADED: "Only criteria that are met or not met can be graded so far.",
}


def sentence_for(reason: str) -> str:
    """The sentence of a grade's stored reason; the reason itself where it is none of ours."""
    if reason in set(UnscoredReason):
        return UnscoredReason(reason).sentence
    return NoReplyReason(reason).sentence if reason in set(NoReplyReason) else reason
