"""Who wrote a criterion, and so has no vote on it: writers of its first text, its current wording, merged sources.

The rule stands here twice, once for Python and once for SQL; a test holds them together.
"""

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from annotation.models import Criterion, RevisionWriter, User


def writers_of(criteria: Iterable[Criterion]) -> dict[UUID, set[UUID]]:
    """Who wrote each criterion: its first text, its current wording, or a source merged into it. One query."""
    known = {criterion.id: criterion for criterion in criteria}
    wordings = {c.id: c.current_revision.wording_id for c in known.values() if c.current_revision}
    writers: dict[UUID, set[UUID]] = defaultdict(set)
    rows = RevisionWriter.objects.filter(
        Q(revision__criterion__in=known) | Q(revision__criterion__merged_into__in=known)
    ).values_list(
        "revision__criterion_id",
        "revision__criterion__merged_into_id",
        "revision__number",
        "revision_id",
        "writer_id",
    )
    for criterion_id, merged_into_id, number, revision_id, writer_id in rows:
        if criterion_id in known and (number == 1 or revision_id == wordings.get(criterion_id)):
            writers[criterion_id].add(writer_id)
        if merged_into_id in known:
            writers[merged_into_id].add(writer_id)
    return writers


def ways_to_be_writer(writer: User | OuterRef, criterion: str = "pk") -> tuple[Exists, Exists, Exists]:
    """For a query over criteria, or over rows that ``criterion`` leads from: whether the person wrote it, way by way.

    Three questions and not one, since with OR inside it none would find an index.
    """
    wording = "current_revision__wording_id" if criterion == "pk" else f"{criterion}__current_revision__wording_id"
    mine = RevisionWriter.objects.filter(writer=writer)
    return (
        Exists(mine.filter(revision__criterion=OuterRef(criterion), revision__number=1)),
        Exists(mine.filter(revision=OuterRef(wording))),
        Exists(mine.filter(revision__criterion__merged_into=OuterRef(criterion))),
    )
