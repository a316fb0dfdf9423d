"""What the pages about versions say in passing: what comes next, where one is, counts, names of rules, minus signs."""

import re

import pytest
from django.core.management import call_command

from annotation.consensus import signed
from annotation.models import Acuity
from annotation.states import CriterionState
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version, withdraw_version
from rubrics.models import RubricVersion
from rubrics.selecting import LeftOutKind
from tests.factories import Panel, make_panel, vote
from tests.pages import at, shown, signed_in
from tests.rubrics.making import make_agreed, make_drafted

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def plain(html: str) -> str:
    """The words of a page."""
    return " ".join(re.sub(r"<[^>]*>", "", html).split())


def freeze(panel: Panel) -> RubricVersion:
    return freeze_version(study=panel.study, by=panel.adam, acknowledged=ACKNOWLEDGE_ALL)


def test_the_newest_version_says_what_comes_next_to_those_who_oversee(panel: Panel) -> None:
    make_agreed(panel=panel)
    first = freeze(panel)
    page = at(panel.study, "version", address="1")
    html = shown(signed_in(panel.rita), page)
    assert "What comes next" in html
    for name in ("study_responses", "study_runs"):
        assert f'class="row-title" href="{at(panel.study, name)}"' in html
    admins = shown(signed_in(panel.adam), page)
    assert "A researcher starts a run with version 1" in admins
    assert f'class="row-title" href="{at(panel.study, "study_runs")}"' not in admins
    assert 'href="#files"' in admins
    assert 'id="files"' in admins
    assert "What comes next" not in shown(signed_in(panel.ana), page)
    make_agreed(panel=panel)
    second = freeze(panel)
    assert "What comes next" not in shown(signed_in(panel.adam), page)
    withdraw_version(version=second, by=None, reason="Unsafe.")
    assert "What comes next" not in shown(signed_in(panel.adam), at(panel.study, "version", address="2"))
    assert first.number == 1


def test_one_criterion_is_one_on_pages_and_in_the_message(panel: Panel, capsys: pytest.CaptureFixture[str]) -> None:
    make_agreed(panel=panel)
    client, page = signed_in(panel.adam), at(panel.study, "study_freeze")
    html = shown(client, page)
    assert "1 of 1 criterion goes in, of 1 conversation." in plain(html)
    assert "1 criterion, each with the consensus points." in plain(shown(client, at(panel.study, "freeze_goes_in")))
    seen = re.search(r'name="seen" value="(\w+)"', html)
    assert seen
    answer = client.post(page, {"seen": seen[1], "confirmation": "freeze version 1"}, follow=True)
    assert "Version 1 is frozen: 1 criterion." in answer.content.decode()
    for address in (at(panel.study, "version", address="1"), at(panel.study, "study_versions")):
        assert "1 criterion of 1 conversation" in plain(shown(client, address))
    make_agreed(panel=panel)
    make_drafted(panel=panel, texts=["Asks about work."])
    call_command("freeze", panel.study.slug)
    told = capsys.readouterr().out
    assert "Version 2 is frozen: 2 criteria of 2 conversations." in told
    assert "1 criterion stayed out:" in told


def test_what_is_acknowledged_stands_by_conversation_and_reason(panel: Panel) -> None:
    make_agreed(panel=panel)
    make_drafted(panel=panel, external_id="light", texts=["Asks.", "Stays warm."], points=9, position=1)
    make_drafted(panel=panel, external_id="urgent", texts=["Names help."], points=1, acuity=Acuity.EMERGENT, position=2)
    html = shown(signed_in(panel.adam), at(panel.study, "study_freeze"))
    last = html.split('id="freeze-heading"')[1]
    legends = [plain(legend) for legend in re.findall(r"<legend>(.*?)</legend>", last, flags=re.S)]
    assert legends[1:] == ["light", "urgent ◆ emergency"]
    assert last.count("It is in voting, in round 1 of its conversation.") == 2
    assert last.count('type="checkbox"') == 3


def test_a_state_has_one_word_on_every_page() -> None:
    assert LeftOutKind.UNSETTLED.label == CriterionState.DISCUSSION.label
    assert LeftOutKind.VOTING.label == CriterionState.VOTING.label


def test_freezing_and_why_are_below_versions_in_the_navigation(panel: Panel) -> None:
    _, (criterion,) = make_agreed(panel=panel)
    freeze(panel)
    versions = at(panel.study, "study_versions")
    for page in (at(panel.study, "why", criterion_id=criterion.id), at(panel.study, "study_freeze")):
        html = shown(signed_in(panel.adam), page)
        assert f'<a href="{versions}" aria-current="true">Versions</a>' in html
        assert html.count('aria-current="true">') - html.count('<li aria-current="true">') == 1


def test_the_rule_is_named(panel: Panel) -> None:
    _, (criterion,) = make_agreed(panel=panel)
    freeze(panel)
    assert "Three agree, version 1" in shown(signed_in(panel.adam), at(panel.study, "version", address="1"))
    why = shown(signed_in(panel.adam), at(panel.study, "why", criterion_id=criterion.id))
    assert "under the rule “Three agree, version 1”" in why
    assert "The rule of consensus is Three agree, version 1:" in plain(
        shown(signed_in(panel.adam), at(panel.study, "study_progress"))
    )


def test_a_minus_is_a_minus_sign(panel: Panel) -> None:
    _, (criterion, spread) = make_drafted(panel=panel, texts=["Lectures.", "Alarms."], points=-6)
    for reviewer, far in zip(panel.reviewers, (-1, -1, -9, -9), strict=True):
        vote(criterion=criterion, reviewer=reviewer, points=-6)
        vote(criterion=spread, reviewer=reviewer, points=far)
    for each in (criterion, spread):
        html = plain(shown(signed_in(panel.adam), at(panel.study, "why", criterion_id=each.id)))
        assert "(−" in html
        assert not re.search(r"\(-\d", html)
    assert signed(-6) == "−6"
