"""Before the start: which conversations can reach a quorum, by language and country."""

import pytest

from annotation.assigning import assign_reviewer
from annotation.before_the_start import ReachOfSome, reach_by_language
from annotation.importing.criteria import import_criteria
from annotation.models import User
from tests.factories import Panel, draft, join, make_conversation, make_panel
from tests.importing_files import jsonl
from tests.pages import api, at, got, queries_of, shown, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    """Five clinicians, of whom ana and ben read Spanish too and the others English alone; three agree."""
    panel = make_panel()
    User.objects.filter(pk__in=[panel.ana.pk, panel.ben.pk]).update(languages=["es", "en"], country="MX")
    User.objects.filter(pk__in=[panel.chloe.pk, panel.dev.pk, panel.eva.pk]).update(languages=["en"])
    return panel


def test_each_language_and_country_says_who_reads_it_what_is_needed_and_what_is_missing(panel: Panel) -> None:
    for language, country in (("es-MX", "MX"), ("es-MX", "MX"), ("en", "GB"), ("ar", None), (None, None)):
        make_conversation(study=panel.study, language=language, country=country)
    assert reach_by_language(panel.study) == [
        ReachOfSome("ar", None, conversations=1, readers=0, readers_there=0, needed=4, missing=4, below=1),
        ReachOfSome("es-MX", "MX", conversations=2, readers=2, readers_there=2, needed=4, missing=2, below=2),
        ReachOfSome("en", "GB", conversations=1, readers=5, readers_there=0, needed=4, missing=0, below=0),
        ReachOfSome(None, None, conversations=1, readers=5, readers_there=0, needed=4, missing=0, below=0),
    ]


def test_criteria_that_are_there_need_as_many_as_their_writers_leave_over(panel: Panel) -> None:
    """One that none of the clinicians wrote needs three who judge it; one that a reviewer wrote needs one more."""
    for external_id in ("by-nobody", "by-chloe"):
        make_conversation(study=panel.study, external_id=external_id, language="es")
    rows = [{"conversation_id": "by-nobody", "text": "Asks about sleep.", "points": 6}]
    import_criteria(study=panel.study, source=jsonl(*rows), file_name="c", by=panel.adam, check=False)
    assert [(row.needed, row.missing, row.below) for row in reach_by_language(panel.study)] == [(4, 2, 2)]
    panel.study.conversations.filter(external_id="by-chloe").update(language="en")
    assign_reviewer(conversation=panel.study.conversations.get(external_id="by-chloe"), reviewer=panel.chloe)
    draft(conversation=panel.study.conversations.get(external_id="by-chloe"), writer=panel.chloe)
    found = {row.language: (row.needed, row.missing, row.below) for row in reach_by_language(panel.study)}
    assert found == {"es": (3, 1, 1), "en": (4, 0, 0)}


def test_the_page_and_the_api_tell_it(panel: Panel) -> None:
    make_conversation(study=panel.study, language="es-MX", country="MX")
    html = shown(signed_in(panel.adam), at(panel.study, "study_assign"))
    assert "Which conversations can reach a quorum" in html
    assert "▲ 2" in html
    [row] = got(panel.adam, at(panel.study, "api_reach"))
    assert (row["language"], row["readers"], row["needed"], row["missing"]) == ("es-MX", 2, 4, 2)
    assert api(panel.rita).get(at(panel.study, "api_reach")).status_code == 403


def test_the_table_asks_as_often_for_many_as_for_few(panel: Panel) -> None:
    client, page = signed_in(panel.adam), at(panel.study, "study_assign")
    make_conversation(study=panel.study, language="en")
    few = queries_of(client, page)
    for language in ("es", "ar", "fr", "en"):
        make_conversation(study=panel.study, language=language)
    join(study=panel.study, name="fern", languages=["ar"])
    assert queries_of(client, page) == few
