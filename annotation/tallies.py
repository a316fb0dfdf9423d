"""What a reveal shows of a criterion: the decision in words, how votes and weights fell, the reasons, without names.

Only votes that counted are shown: on the wording that was decided, by reviewers who were eligible then. They come in
an order that tells nothing (their random ids). Names come along only where the reveal's policy says so.
"""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

from annotation.consensus import signed
from annotation.models import Criterion, Revision, RoundOutcome, User, Vote


@dataclass(frozen=True, slots=True)
class WeightCount:
    points: int
    count: int


@dataclass(slots=True)
class Tally:
    """One revealed round of one criterion, as one person reads it."""

    outcome: RoundOutcome
    wording: Revision
    reader: User
    votes: list[Vote] = field(default_factory=list)

    @property
    def own(self) -> Vote | None:
        return next((vote for vote in self.votes if vote.reviewer_id == self.reader.id), None)

    @property
    def choices(self) -> list[tuple[str, int]]:
        """How many agreed, objected, abstained and recused; the last two only where somebody did."""
        counts = Counter(vote.choice for vote in self.votes)
        words = [
            (Vote.Choice.AGREE, "agreed"),
            (Vote.Choice.OBJECT, "objected"),
            (Vote.Choice.ABSTAIN, "abstained"),
            (Vote.Choice.RECUSE, "recused"),
        ]
        always = {Vote.Choice.AGREE, Vote.Choice.OBJECT}
        return [(word, counts[choice]) for choice, word in words if counts[choice] or choice in always]

    @property
    def silent(self) -> int:
        """How many eligible reviewers did not vote on this wording."""
        return len(self.outcome.eligible) - len(self.votes)

    @property
    def weights(self) -> list[WeightCount]:
        """The agreeing weights, heaviest first."""
        counts = Counter(vote.points for vote in self.votes if vote.points is not None)
        return [WeightCount(points, counts[points]) for points in sorted(counts, key=abs, reverse=True)]

    @property
    def objections(self) -> list[Vote]:
        return [vote for vote in self.votes if vote.choice == Vote.Choice.OBJECT]

    @property
    def better_wordings(self) -> list[Vote]:
        return [vote for vote in self.votes if vote.better_wording]

    @property
    def own_in_words(self) -> str:
        return vote_in_words(self.own) if self.own else ""

    @property
    def votes_by_name(self) -> list[tuple[str, str]]:
        """(name, vote in words), by name: to be shown only where the round shows names."""
        return sorted((str(vote.reviewer), vote_in_words(vote)) for vote in self.votes)

    @property
    def shows_names(self) -> bool:
        return self.outcome.round.shows_names

    @property
    def number(self) -> int:
        return self.outcome.round.number


def vote_in_words(vote: Vote) -> str:
    """One vote as its owner reads it: "agreed, +6", "objected: ambiguous", "abstained", "recused"."""
    if vote.choice == Vote.Choice.AGREE:
        assert vote.points is not None
        return f"agreed, {signed(vote.points)}"
    if vote.choice == Vote.Choice.OBJECT:
        return f"objected: {vote.get_category_display()}"
    return "abstained" if vote.choice == Vote.Choice.ABSTAIN else "recused"


def is_counted(vote: Vote, outcome: RoundOutcome) -> bool:
    """Whether a vote of a revealed round counted: on the wording that was decided, by somebody eligible then."""
    return vote.wording_id == outcome.wording_id and vote.reviewer_id in outcome.eligible


def which_counted(votes: Collection[Vote]) -> dict[UUID, bool]:
    """By id, for each vote of a revealed round, whether it counted. One query.

    Votes come with their wording; those of a round that is not decided yet are left out.
    """
    outcomes = {
        (outcome.round_id, outcome.criterion_id): outcome
        for outcome in RoundOutcome.objects.filter(
            round__in={vote.round_id for vote in votes}, criterion__in={vote.wording.criterion_id for vote in votes}
        )
    }
    return {
        vote.id: outcome is not None and is_counted(vote, outcome)
        for vote in votes
        if vote.round.revealed_at is not None
        for outcome in [outcomes.get((vote.round_id, vote.wording.criterion_id))]
    }


def tallies_of(criteria: Collection[Criterion], reader: User) -> dict[UUID, list[Tally]]:
    """The revealed rounds of each criterion, oldest first. Two queries, however many criteria."""
    latest: dict[tuple[UUID, UUID], RoundOutcome] = {}
    for outcome in (
        RoundOutcome.objects.filter(criterion__in=criteria, round__revealed_at__isnull=False)
        .select_related("round__policy", "wording")
        .order_by("round__number", "policy__version")
    ):
        latest[outcome.criterion_id, outcome.round_id] = outcome
    if not latest:
        return {}
    votes: dict[tuple[UUID, UUID], list[Vote]] = defaultdict(list)
    for vote in (
        Vote.objects.filter(
            round__in={round_id for _, round_id in latest},
            round__revealed_at__isnull=False,
            wording__in={outcome.wording_id for outcome in latest.values()},
        )
        .select_related("reviewer")
        .order_by("id")
    ):
        votes[vote.round_id, vote.wording_id].append(vote)
    tallies: dict[UUID, list[Tally]] = defaultdict(list)
    for (criterion_id, round_id), outcome in latest.items():
        counted = [vote for vote in votes[round_id, outcome.wording_id] if is_counted(vote, outcome)]
        tallies[criterion_id].append(Tally(outcome, outcome.wording, reader, counted))
    return tallies
