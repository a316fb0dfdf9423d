"""The votes that counted, as patterns: how many criteria were voted on in just the same way.

A vote counts when its round is revealed, it stands on the wording that was decided, and its owner was eligible then
(annotation.tallies.is_counted, said in SQL); a writer's never does, an imported one does. A criterion is looked at
twice: in the first revealed round in which it was voted in, before any discussion, and in the last. Recusing is no
voice: a round in which all recused is none in which it was voted in. Votes of an open round are not read.

Everything is gathered in SQL, so that a study's 170,000 votes come as some hundred rows; a fixed number of queries.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from annotation.models import Assignment, Conversation, Round, Study, User

# The reveal's own outcome: a later policy adds others, always with the same wording and eligible reviewers. Votes are
# gathered by criterion and round before anything else, and the whole is one statement: so it reads them once.
PLACED = """
    WITH decided AS (
        SELECT outcome.id, outcome.criterion_id, outcome.round_id, outcome.wording_id, outcome.eligible,
               held.number, held.conversation_id, wording.axis, sign(wording.points)::int AS direction
          FROM annotation_conversation AS conversation
          JOIN annotation_round AS held ON held.conversation_id = conversation.id
          JOIN annotation_roundoutcome AS outcome
            ON outcome.round_id = held.id AND outcome.policy_id = held.policy_id
          JOIN annotation_revision AS wording ON wording.id = outcome.wording_id
         WHERE conversation.study_id = %(study)s AND conversation.external_name = ''
           AND conversation.undone_at IS NULL AND held.revealed_at IS NOT NULL {narrowed}
    ), counted AS (
        SELECT decided.id, {gathered}
          FROM decided
          JOIN annotation_vote AS vote
            ON vote.round_id = decided.round_id AND vote.wording_id = decided.wording_id
           AND vote.reviewer_id = ANY (decided.eligible)
         GROUP BY decided.id
        HAVING count(*) FILTER (WHERE vote.choice <> 'recuse') > 0
    ), ends AS (
        SELECT counted.*, axis, direction, conversation_id,
               number = min(number) OVER of_criterion AS is_first, number = max(number) OVER of_criterion AS is_last
          FROM counted JOIN decided USING (id)
        WINDOW of_criterion AS (PARTITION BY criterion_id)
    ), placed AS (SELECT * FROM ends WHERE is_first OR is_last)
"""

# Of the conversations three are enough to know that they are not too few.
VOTES = (
    PLACED.format(
        narrowed="",
        gathered="""
               ARRAY[
                   count(*) FILTER (WHERE vote.choice = 'agree'),
                   count(*) FILTER (WHERE vote.choice = 'object'),
                   count(*) FILTER (WHERE vote.choice = 'abstain'),
                   count(*) FILTER (WHERE vote.choice = 'recuse'),
                   count(*) FILTER (WHERE vote.imported_from_id IS NOT NULL)
               ] AS counts,
               array_agg(vote.points ORDER BY vote.points) FILTER (WHERE vote.choice = 'agree') AS weights,
               array_agg(vote.reviewer_id) FILTER (WHERE vote.choice IN ('agree', 'object')) AS people,
               array_agg(vote.category) FILTER (WHERE vote.choice = 'object') AS categories
    """,
    )
    + """
    SELECT axis, is_first, is_last, counts, weights, NULL::uuid, NULL::uuid, NULL, count(*)
      FROM placed GROUP BY axis, is_first, is_last, counts, weights
     UNION ALL
    SELECT axis, is_first, is_last, NULL, NULL, person, NULL, NULL, count(*)
      FROM placed, unnest(people) AS person GROUP BY axis, is_first, is_last, person
     UNION ALL
    SELECT axis, is_first, is_last, NULL, NULL, NULL, unnest((array_agg(DISTINCT conversation_id))[1:3]), NULL, 1
      FROM placed WHERE people IS NOT NULL GROUP BY axis, is_first, is_last
     UNION ALL
    SELECT axis, is_first, is_last, NULL, NULL, NULL, NULL, category, count(*)
      FROM placed, unnest(categories) AS category GROUP BY axis, is_first, is_last, category
"""
)

BESIDE = (
    PLACED.format(
        narrowed="""
           AND conversation.id IN (SELECT conversation_id FROM annotation_assignment WHERE reviewer_id = %(person)s)
    """,
        gathered="""
               bool_or(vote.choice = 'agree') FILTER (WHERE vote.reviewer_id = %(person)s) AS has_agreed,
               bool_or(vote.choice IN ('agree', 'object')) FILTER (WHERE vote.reviewer_id = %(person)s) AS has_answered,
               bool_or(vote.imported_from_id IS NOT NULL) FILTER (WHERE vote.reviewer_id = %(person)s) AS is_imported,
               count(*) FILTER (WHERE vote.choice = 'agree' AND vote.reviewer_id <> %(person)s) AS agreed,
               count(*) FILTER (WHERE vote.choice = 'object' AND vote.reviewer_id <> %(person)s) AS objected,
               max(vote.points) FILTER (WHERE vote.reviewer_id = %(person)s) AS weight,
               sum(vote.points) FILTER (WHERE vote.reviewer_id <> %(person)s) AS weights
    """,
    )
    + """
    SELECT is_first, is_last, has_agreed, is_imported, agreed, objected, direction * weight, direction * weights,
           count(*)
      FROM placed WHERE has_answered
     GROUP BY is_first, is_last, has_agreed, is_imported, agreed, objected, direction * weight, direction * weights
"""
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """So many ``criteria`` of one axis were voted on in this way in one round.

    ``is_first`` and ``is_last`` say which round it was for them; both, where there was one only. ``agreed`` and the
    like count votes of one criterion, ``weights`` are those of who agreed, sorted.
    """

    axis: str
    is_first: bool
    is_last: bool
    agreed: int
    objected: int
    abstained: int
    recused: int
    imported: int
    weights: tuple[int, ...]
    criteria: int


@dataclass(frozen=True, slots=True)
class Voters:
    """Who agreed or objected in an axis' first or last rounds, in which conversations (three at most are named), and
    the objections by category.
    """

    axis: str
    is_first: bool
    is_last: bool
    people: set[UUID] = field(default_factory=set)
    conversations: set[UUID] = field(default_factory=set)
    categories: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Beside:
    """So many ``criteria`` on which one person agreed (else objected) beside the same votes of the others.

    ``weight`` and ``weights`` (the sum of the others' who agreed) are signed by the criterion's direction: more is
    heavier, of what is wanted and of what is not. None where nobody gave one.
    """

    is_first: bool
    is_last: bool
    has_agreed: bool
    is_imported: bool
    agreed: int
    objected: int
    weight: int | None
    weights: int | None
    criteria: int


def read_votes(study: Study) -> tuple[list[Pattern], list[Voters]]:
    """How the study's criteria were voted on, and who voted in which axis and round. One query."""
    patterns: list[Pattern] = []
    voters: dict[tuple[str, bool, bool], Voters] = {}
    for axis, is_first, is_last, counts, weights, person, conversation, category, number in _rows(
        VOTES, study=study.id
    ):
        if counts is not None:
            agreed, objected, abstained, recused, imported = counts
            answers = (agreed, objected, abstained, recused, imported)
            patterns.append(Pattern(axis, is_first, is_last, *answers, tuple(weights or ()), number))
            continue
        place = (axis, is_first, is_last)
        those = voters.setdefault(place, Voters(*place))
        if person is not None:
            those.people.add(person)
        elif conversation is not None:
            those.conversations.add(conversation)
        else:
            those.categories[category] += number
    return patterns, list(voters.values())


def read_beside(study: Study, person: User) -> list[Beside]:
    """One person's votes beside those of the others on the same criteria in the same rounds. One query."""
    return [Beside(*row) for row in _rows(BESIDE, study=study.id, person=person.id)]


def count_open(study: Study, reviewer: User | None = None) -> int:
    """How many of the study's own conversations, or of those that one person reviews, have a round not revealed."""
    own = Conversation.objects.own().filter(study=study)
    if reviewer is not None:
        own = own.filter(assignments__in=Assignment.objects.active().filter(reviewer=reviewer))
    return Round.objects.unsettled().filter(conversation__in=own).count()


def _rows(statement: str, **given: Any) -> Iterator[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        yield from cursor.fetchall()
