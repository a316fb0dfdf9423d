"""The rows of the study's own data: what of it whoever asks may see now, in the order of the study's files."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Exists, OuterRef
from django.utils.crypto import salted_hmac

from annotation.care_locks import unlocked
from annotation.finding_alike import visible_in_study
from annotation.models import (
    Comment,
    Conversation,
    Criterion,
    Revision,
    RevisionWriter,
    Round,
    RoundOutcome,
    Study,
    User,
    Vote,
)
from annotation.permissions import sees_points
from annotation.states import with_criterion_state

AT_ONCE = 2000
Rows = Iterator[tuple[object, ...]]
OPEN_ROUND = Round.objects.unsettled().filter(conversation=OuterRef("wording__criterion__conversation"))


def in_order_of_files(criterion: str) -> list[str]:
    """The order of the study's files, over rows that lead to a criterion by ``criterion``."""
    return [
        f"{criterion}__{part}"
        for part in ("conversation__position", "conversation__external_id", "position", "external_id")
    ]


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose data for whom; ``reader`` None is the command line. Admins get what is locked for a person's sake, too."""

    study: Study
    reader: User | None
    is_admin: bool

    def conversations(self) -> "models.QuerySet[Conversation]":
        """The study's own that the reader may have."""
        own = Conversation.objects.own().filter(study=self.study)
        return own if self.is_admin else unlocked(own)

    def revealed_rounds(self) -> "models.QuerySet[Round]":
        return Round.objects.filter(conversation__in=self.conversations().values("id"), revealed_at__isnull=False)

    def eligible(self) -> dict[tuple[UUID, UUID], frozenset[UUID]]:
        """By revealed round and the wording that was decided there: whose votes on it counted. One query."""
        decided = RoundOutcome.objects.filter(round__in=self.revealed_rounds().values("id"))
        rows = decided.values_list("round_id", "wording_id", "eligible").iterator(AT_ONCE)
        return {(round_id, wording_id): frozenset(people) for round_id, wording_id, people in rows}

    def code_of(self) -> Callable[[UUID | None], str]:
        """A person's code: it tells the same person in each table, and nobody who it is."""

        @cache
        def code(person_id: UUID | None) -> str:
            if person_id is None:
                return ""
            return salted_hmac("a person in a study's data", f"{self.study.id} {person_id}").hexdigest()[:12]

        return code


def criteria_rows(asked: Asked) -> Rows:
    criteria = Criterion.objects.filter(conversation__in=asked.conversations().values("id"))
    if asked.reader is not None:
        criteria = criteria.filter(id__in=visible_in_study(asked.reader, asked.study).values("id"))
    known = list(with_criterion_state(criteria).select_related("study", "merged_into", "current_revision"))
    states = {each.id: each for each in known}
    shown = set(states) if asked.reader is None else sees_points(asked.reader, known)
    code = asked.code_of()
    writers: dict[UUID, list[str]] = defaultdict(list)
    written = RevisionWriter.objects.filter(revision__criterion__in=criteria.values("id"))
    for revision_id, writer_id in written.values_list("revision_id", "writer_id").iterator(AT_ONCE):
        writers[revision_id].append(code(writer_id))
    revisions = (
        Revision.objects.filter(criterion__in=criteria.values("id"))
        .select_related("criterion__conversation", "same_wording_as")
        .defer("criterion__conversation__messages", "criterion__conversation__extra")
        .order_by(*in_order_of_files("criterion"), "number")
    )
    for revision in revisions.iterator(AT_ONCE):
        this: Any = states.get(revision.criterion_id)
        if this is None:
            continue  # written while this file was made
        yield (
            revision.criterion.conversation.external_id,
            this.external_id,
            this.state,
            revision.number,
            this.current_revision_id == revision.id,
            revision.same_wording_as.number if revision.same_wording_as else revision.number,
            revision.text,
            revision.points if this.id in shown else None,
            this.consensus_points if this.state == "in_consensus" and this.current_revision_id == revision.id else None,
            revision.axis,
            revision.scale,
            revision.levels,
            revision.rationale,
            list(revision.anchors),
            sorted(writers[revision.id]),
            code(revision.created_by_id),
            this.imported_from_id is not None,
            revision.created_at,
            this.merged_into.external_id if this.merged_into else "",
        )


def vote_rows(asked: Asked) -> Rows:
    code = asked.code_of()
    eligible = asked.eligible()
    votes = (
        Vote.objects.filter(round__in=asked.revealed_rounds().values("id"))
        .annotate(is_asked_again=Exists(OPEN_ROUND))
        .order_by(*in_order_of_files("wording__criterion"), "round__number", "id")
    )
    for (
        conversation_id,
        criterion_id,
        number,
        revision,
        round_id,
        wording_id,
        reviewer_id,
        address,
        is_named,
        is_asked_again,
        imported_from,
        *vote,
    ) in votes.values_list(
        "round__conversation__external_id",
        "wording__criterion__external_id",
        "round__number",
        "wording__number",
        "round_id",
        "wording_id",
        "reviewer_id",
        "reviewer__email",
        "round__policy__names_shown_after_reveal",
        "is_asked_again",
        "imported_from_id",
        "choice",
        "points",
        "category",
        "reason",
        "better_wording",
        "cast_at",
    ).iterator(AT_ONCE):
        yield (
            conversation_id,
            criterion_id,
            number,
            revision,
            *vote,
            reviewer_id in eligible.get((round_id, wording_id), ()),
            imported_from is not None,
            code(reviewer_id),
            address if is_named and not is_asked_again else "",
        )


def round_rows(asked: Asked) -> Rows:
    outcomes = (
        RoundOutcome.objects.filter(round__in=asked.revealed_rounds().values("id"))
        .select_related("round__conversation", "criterion", "policy", "wording")
        .defer("round__conversation__messages", "round__conversation__extra")
        .order_by(
            "round__conversation__position",
            "round__conversation__external_id",
            "round__number",
            "criterion__position",
            "criterion__external_id",
            "policy__version",
        )
    )
    eligible = asked.eligible()
    choices: dict[tuple[UUID, UUID], Counter[str]] = defaultdict(Counter)
    votes = Vote.objects.filter(round__in=asked.revealed_rounds().values("id"))
    for round_id, wording_id, reviewer_id, choice in votes.values_list(
        "round_id", "wording_id", "reviewer_id", "choice"
    ).iterator(AT_ONCE):
        choices[round_id, wording_id][choice] += reviewer_id in eligible.get((round_id, wording_id), ())
    for outcome in outcomes.iterator(AT_ONCE):
        held, count = outcome.round, choices[outcome.round_id, outcome.wording_id]
        yield (
            held.conversation.external_id,
            held.number,
            held.opened_at,
            held.closes_at,
            held.revealed_at,
            outcome.criterion.external_id,
            outcome.wording.number,
            outcome.policy.version,
            outcome.result,
            outcome.points,
            list(outcome.failing),
            outcome.sentence,
            len(outcome.eligible),
            *(count[choice] for choice in ("agree", "object", "abstain", "recuse")),
        )


def comment_rows(asked: Asked) -> Rows:
    code = asked.code_of()
    open_rounds = Round.objects.unsettled().filter(conversation=OuterRef("criterion__conversation"))
    comments = (
        Comment.objects.with_naming()
        .filter(~Exists(open_rounds), criterion__conversation__in=asked.conversations().values("id"))
        .select_related("criterion__conversation", "author")
        .defer("criterion__conversation__messages", "criterion__conversation__extra")
        .order_by(*in_order_of_files("criterion"), "created_at", "id")
    )
    for comment in comments.iterator(AT_ONCE):
        is_named: bool = comment.is_named  # type: ignore[attr-defined]
        yield (
            comment.criterion.conversation.external_id,
            comment.criterion.external_id,
            comment.created_at,
            comment.text,
            code(comment.author_id),
            comment.author.email if is_named else "",
        )
