"""Plain functions that bring criteria to consensus, and published files in. All keyword-only."""

import itertools
from collections.abc import Sequence

from django.db import transaction

from annotation.assigning import assign_reviewer
from annotation.models import Conversation, Criterion, FileImport, Study
from annotation.round_acts import close_drafting
from rubrics.models import RubricVersion
from rubrics.taking_in import ExternalConversation, ExternalCriterion, take_in_version
from tests.factories import Panel, draft, make_conversation, vote

AXIS = "communication_and_writing"
_numbers = itertools.count(1)


def make_drafted(
    *, panel: Panel, texts: Sequence[str], points: int = 6, axis: str = AXIS, **facts: object
) -> tuple[Conversation, list[Criterion]]:
    """A conversation reviewed by the whole panel, in round 1, with criteria by ana. Nobody has voted."""
    conversation = make_conversation(study=panel.study, **facts)  # type: ignore[arg-type]
    for reviewer in [panel.ana, *panel.reviewers]:
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    criteria = [
        draft(conversation=conversation, writer=panel.ana, text=text, points=points, axis=axis) for text in texts
    ]
    close_drafting(conversation=conversation, by=panel.adam)
    return conversation, criteria


def make_agreed(
    *,
    panel: Panel,
    texts: Sequence[str] = ("Asks about sleep.",),
    points: int = 6,
    weights: Sequence[int] | None = None,
    axis: str = AXIS,
    **facts: object,
) -> tuple[Conversation, list[Criterion]]:
    """The same, voted on: each of the four reviewers agreed, with ``weights`` or else the author's points."""
    conversation, criteria = make_drafted(panel=panel, texts=texts, points=points, axis=axis, **facts)
    for criterion in criteria:
        for reviewer, weight in zip(panel.reviewers, weights or [points] * 4, strict=True):
            vote(criterion=criterion, reviewer=reviewer, points=weight)
    return conversation, criteria


def make_row(
    *, external_id: str = "", criteria: Sequence[ExternalCriterion] = (), **facts: object
) -> ExternalConversation:
    """A row of a published file."""
    number = next(_numbers)
    return ExternalConversation(
        **{
            "external_id": external_id or f"published-{number}",
            "messages": [{"role": "user", "content": "I can't sleep."}],
            "criteria": list(criteria) or [ExternalCriterion(text="Asks about sleep.", points=5, axis="accuracy")],
            "line": number,
            **facts,
        }  # type: ignore[arg-type]
    )


def take_in(
    *,
    study: Study,
    rows: Sequence[ExternalConversation],
    name: str = "healthbench",
    source_format: str = "healthbench",
) -> RubricVersion:
    """Take rows in as the study's external version, as the import does."""
    with transaction.atomic():
        file_import = FileImport.objects.create(
            study=study,
            kind=FileImport.Kind.CONVERSATIONS,
            file_name="set.jsonl",
            sha256="0" * 64,
            created=len(rows),
            unchanged=0,
        )
        return take_in_version(
            study=study,
            name=name,
            source_format=source_format,  # type: ignore[arg-type]
            rows=rows,
            file_name="set.jsonl",
            sha256="0" * 64,
            by=None,
            file_import=file_import,
        )
