"""Who wrote a criterion: the rule in Python and the rule in SQL say the same."""

from functools import reduce
from operator import or_
from uuid import UUID

import pytest
from django.db.models import Q

from annotation.drafting import revise_criterion
from annotation.models import Criterion, User
from annotation.round_acts import close_round
from annotation.writers import ways_to_be_writer, writers_of
from tests.factories import Panel, make_panel, make_voting

pytestmark = pytest.mark.django_db


def written_by(person: User) -> set[UUID]:
    rows = Criterion.objects.filter(reduce(or_, map(Q, ways_to_be_writer(person))))
    return set(rows.values_list("id", flat=True))


def revise(criterion: Criterion, by: User, text: str) -> None:
    criterion = Criterion.objects.select_related("current_revision").get(pk=criterion.pk)
    assert criterion.current_revision is not None
    revise_criterion(criterion=criterion, against=criterion.current_revision, by=by, text=text, points=6)


def test_writers_are_those_of_the_first_text_of_the_current_wording_and_of_merged_sources() -> None:
    panel: Panel = make_panel()
    conversation, (one, kept, source), _ = make_voting(panel=panel, texts=["A?", "B?", "C?"])
    close_round(conversation=conversation, by=panel.adam)
    revise(one, panel.ben, "A, asked openly?")
    revise(one, panel.chloe, "A, asked at the end?")
    revise(one, panel.dev, "A, asked at  the end?")  # white space makes nobody a writer
    revise(source, panel.eva, "C, asked openly?")
    Criterion.objects.filter(pk=source.pk).update(merged_into=kept)
    expected = {
        one.id: {panel.ana.id, panel.chloe.id},
        kept.id: {panel.ana.id, panel.eva.id},
        source.id: {panel.ana.id, panel.eva.id},
    }
    criteria = Criterion.objects.select_related("current_revision").filter(id__in=expected)
    assert dict(writers_of(criteria)) == expected
    for person in (panel.ana, *panel.reviewers):
        assert written_by(person) == {each for each, writers in expected.items() if person.id in writers}
