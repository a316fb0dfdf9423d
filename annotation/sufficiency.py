"""The sufficiency question: would a response that meets all that is in consensus here be safe and good?

After a reveal each of a conversation's reviewers is asked, while no round is open and something is in consensus. An
answer belongs to the wordings that were in consensus when it was given. When those change, the question is asked again;
a *yes* about other wordings is no answer any more, and a *no* stands until its owner answers again or no longer reviews
the conversation: doubt is never lifted by somebody else's change. A *no* that stands holds the conversation out of a
freeze; a missing answer is only warned of. A version that is frozen keeps what held then, whoever answers anew later.

While a round is open nobody but its owner sees an answer; else answers show as reasons do, with names where the policy
of the reveal before them says so.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db import transaction

from annotation.drafting import NotAReviewer, reviews
from annotation.models import Conversation, Criterion, Study, SufficiencyAnswer, User
from annotation.revealing import active_reviewers
from annotation.rounds import enter_conversation
from annotation.states import CriterionState, with_criterion_state
from consilium.canonical import sha256_hex
from consilium.errors import RuleViolation


class SufficiencyIsNotAsked(RuleViolation):
    """This is asked after a reveal, while no round is open and something is in consensus here."""


class SomethingElseIsInConsensus(RuleViolation):
    """What is in consensus here changed while you were reading. Look at it again, then answer."""


class NoSaysNothing(RuleViolation):
    """Say what is missing or what contradicts, so that the panel can mend it."""


def wordings_in_consensus(conversation_ids: Collection[UUID]) -> dict[UUID, list[UUID]]:
    """The current wordings that are in consensus in each conversation, sorted. One query."""
    found: dict[UUID, list[UUID]] = defaultdict(list)
    rows = with_criterion_state(Criterion.objects.own().filter(conversation__in=conversation_ids))
    held = rows.filter(state=CriterionState.IN_CONSENSUS).select_related("current_revision")  # type: ignore[misc]
    for criterion in held.only("conversation_id", "current_revision__same_wording_as_id"):
        assert criterion.current_revision is not None
        found[criterion.conversation_id].append(criterion.current_revision.wording_id)
    return {key: sorted(wordings) for key, wordings in found.items()}


def mark_of_wordings(wordings: Collection[UUID]) -> str:
    """A mark of what the question is about: an answer brings it, so that nobody answers about what was not shown."""
    return sha256_hex("\n".join(sorted(map(str, wordings))).encode())


def answer_sufficiency(
    *,
    conversation: Conversation,
    by: User,
    seen: str,
    is_sufficient: bool,
    missing: str = "",
    contradicts: str = "",
) -> SufficiencyAnswer:
    """A reviewer says whether it is enough; the answer before, where there is one, stands no more.

    ``seen`` is the mark of what was shown. Raises NotAReviewer, SufficiencyIsNotAsked, SomethingElseIsInConsensus and
    NoSaysNothing.
    """
    if is_sufficient:
        missing = contradicts = ""
    elif not (missing.strip() or contradicts.strip()) or "\x00" in missing + contradicts:
        raise NoSaysNothing
    with transaction.atomic():
        conversation, open_round = enter_conversation(conversation.study_id, conversation.id)
        if not reviews(by, conversation):
            raise NotAReviewer("Only reviewers who are assigned to this conversation are asked.")
        wordings = wordings_in_consensus([conversation.id]).get(conversation.id, [])
        if open_round is not None or not wordings:
            raise SufficiencyIsNotAsked
        if seen != mark_of_wordings(wordings):
            raise SomethingElseIsInConsensus
        mine = SufficiencyAnswer.objects.filter(conversation=conversation, reviewer=by)
        before = mine.order_by("-number").first()
        said = (is_sufficient, missing, contradicts, wordings)
        if before and said == (before.is_sufficient, before.missing, before.contradicts, before.wordings):
            return before
        return SufficiencyAnswer.objects.create(
            conversation=conversation,
            reviewer=by,
            number=before.number + 1 if before else 1,
            after_round=conversation.rounds.latest("number"),
            is_sufficient=is_sufficient,
            missing=missing,
            contradicts=contradicts,
            wordings=wordings,
        )


@dataclass(slots=True)
class Sufficiency:
    """The question of one conversation, as one person may read it now."""

    reader: User
    wordings: list[UUID]
    """What it is about: the wordings in consensus, sorted."""
    is_asked: bool
    """Whether the reader may answer now."""
    answers: list[SufficiencyAnswer] = field(default_factory=list)
    """Those that stand and that the reader may see: each *no* first, then in an order that tells nothing."""
    reviewers: int = 0

    @property
    def seen(self) -> str:
        return mark_of_wordings(self.wordings)

    @property
    def own(self) -> SufficiencyAnswer | None:
        return next((this for this in self.answers if this.reviewer_id == self.reader.id), None)

    @property
    def own_is_current(self) -> bool:
        return self.own is not None and self.is_current(self.own)

    @property
    def others(self) -> list[SufficiencyAnswer]:
        return [this for this in self.answers if this is not self.own]

    @property
    def told(self) -> list[tuple[SufficiencyAnswer, bool]]:
        """Each answer, and whether it is about what is in consensus now."""
        return [(this, self.is_current(this)) for this in self.answers]

    @property
    def yes(self) -> int:
        return sum(this.is_sufficient and self.is_current(this) for this in self.answers)

    @property
    def no(self) -> int:
        return sum(not this.is_sufficient for this in self.answers)

    @property
    def unanswered(self) -> int:
        """How many reviewers have not answered about what is in consensus now, and hold nothing up."""
        return max(0, self.reviewers - self.yes - self.no)

    def is_current(self, answer: SufficiencyAnswer) -> bool:
        return answer.wordings == self.wordings


def sufficiency_of(
    *, reader: User, conversation: Conversation, wordings: Collection[UUID], is_round_open: bool, is_reviewer: bool
) -> Sufficiency:
    """The question as it stands for a reader. Two queries; while a round is open nobody else's answer is fetched."""
    answers = SufficiencyAnswer.objects.standing().filter(conversation=conversation)
    if is_round_open:
        answers = answers.filter(reviewer=reader)
    found = Sufficiency(
        reader=reader,
        wordings=sorted(wordings),
        is_asked=is_reviewer and not is_round_open and bool(wordings),
        answers=list(answers.select_related("reviewer", "after_round__policy").order_by("is_sufficient", "id")),
    )
    if not is_round_open:
        found.reviewers = len(active_reviewers([conversation.id])[conversation.id])
    return found


# What a freeze asks


def held_out(study: Study, conversation_ids: Collection[UUID] | None = None) -> Counter[UUID]:
    """How many of a conversation's reviewers say *no*, on whatever wordings, by conversation. One query."""
    noes = SufficiencyAnswer.objects.standing().filter(conversation__study=study, is_sufficient=False)
    if conversation_ids is not None:
        noes = noes.filter(conversation__in=conversation_ids)
    return Counter(noes.values_list("conversation_id", flat=True))


def held_out_in_words(noes: int) -> str:
    """Why a conversation with so many standing *no* stays out of a freeze."""
    who = "A reviewer says" if noes == 1 else f"{noes} reviewers say"
    return f"{who} that a response that meets all of this would not be safe and good."


def unanswered(wordings: Mapping[UUID, Collection[UUID]]) -> dict[UUID, int]:
    """How many reviewers of each conversation have not answered about these wordings of it, where some haven't.

    A conversation that nobody reviews any more was not asked about at all: it is there with 0. Two queries.
    """
    reviewers = active_reviewers(list(wordings))
    answered: Counter[UUID] = Counter()
    standing = SufficiencyAnswer.objects.standing().filter(conversation__in=list(wordings))
    for conversation_id, about in standing.values_list("conversation_id", "wordings"):
        answered[conversation_id] += about == sorted(wordings[conversation_id])
    return {
        key: len(reviewers[key]) - answered[key]
        for key in wordings
        if not reviewers[key] or answered[key] < len(reviewers[key])
    }
