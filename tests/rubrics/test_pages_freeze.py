"""The freeze page: what goes in, what stays out and why, leaving out by name, acknowledging, and the freeze itself."""

import re
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.assigning import assign_reviewer
from annotation.drafting import revise_criterion
from annotation.joining import add_member
from annotation.models import Criterion
from annotation.round_acts import close_round, open_round
from rubrics.models import FrozenLeftOut, RubricVersion
from tests.factories import Panel, draft, make_conversation, make_panel, vote
from tests.pages import at, plain, shown, signed_in
from tests.rubrics.making import make_agreed, make_drafted

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def seen_on(html: str) -> str:
    found = re.search(r'name="seen" value="([0-9a-f]+)"', html)
    assert found
    return found[1]


def filled(html: str, *, number: int = 1, **facts: object) -> dict[str, Any]:
    """The last step's form as the page gives it, with everything that it asks about."""
    return {
        "seen": seen_on(html),
        "note": "",
        "confirmation": f"freeze version {number}",
        "acknowledged": re.findall(r'name="acknowledged"[^>]* value="([0-9a-f-]+)"', html),
        **facts,
    }


def freeze(panel: Panel, *, number: int = 1, **facts: object) -> Any:
    client, page = signed_in(panel.adam), at(panel.study, "study_freeze")
    return client.post(page, filled(shown(client, page), number=number, **facts))


# Who may


def test_the_freeze_belongs_to_admins(panel: Panel) -> None:
    _, [criterion] = make_agreed(panel=panel)
    pages = [
        *(at(panel.study, name) for name in ("study_freeze", "freeze_goes_in", "freeze_changes")),
        at(panel.study, "freeze_leave_out", criterion_id=criterion.id),
    ]
    for page in pages:
        assert signed_in(panel.adam).get(page).status_code == 200, page
        for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
            assert signed_in(person).get(page).status_code == status, page
    for person, status in ((panel.ana, 403), (panel.rita, 403), (panel.oscar, 404)):
        response = signed_in(person).post(pages[0], {"confirmation": "freeze version 1"})
        assert response.status_code == status
    put_back = at(panel.study, "freeze_put_back", criterion_id=criterion.id)
    assert signed_in(panel.adam).get(put_back).status_code == 405
    assert not RubricVersion.objects.exists()


def test_a_criterion_of_another_study_is_not_left_out(panel: Panel) -> None:
    _, [theirs] = make_agreed(panel=make_panel())
    assert signed_in(panel.adam).get(at(panel.study, "freeze_leave_out", criterion_id=theirs.id)).status_code == 404


# What it shows


def test_what_goes_in_and_what_stays_out_add_up_to_all_criteria(panel: Panel) -> None:
    make_agreed(panel=panel, texts=["Asks about sleep.", "Asks about sleep."])
    make_agreed(panel=panel, texts=["Gives a lecture."], points=-4)
    make_drafted(panel=panel, texts=["Asks about work.", "Asks about food."])
    undecided, _ = make_drafted(panel=panel, texts=["Asks about friends."])
    close_round(conversation=undecided, by=panel.adam)
    html = shown(signed_in(panel.adam), at(panel.study, "study_freeze"))
    table = html.split('id="counts-heading"')[1].split("</table>")[0]
    counts = re.findall(r'<td class="number">(?:<strong>)?(\d+)', table)
    *parts, total = [int(count) for count in counts]
    assert total == sum(parts) == Criterion.objects.count() == 6
    assert parts[0] == 1
    for reason in ("in voting", "unsettled", "same text as another", "nothing with positive points"):
        assert reason in table


def test_each_that_stays_out_has_its_sentence_and_the_list_is_filtered_by_reason(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, [voting] = make_drafted(panel=panel, texts=["Asks about work."])
    undecided, [unsettled] = make_drafted(panel=panel, texts=["Asks about friends."])
    close_round(conversation=undecided, by=panel.adam)
    client, page = signed_in(panel.adam), at(panel.study, "study_freeze")
    html = shown(client, page)
    assert "It is in voting, in round 1 of its conversation." in html
    assert "0 of the 3 reviewers needed have judged it" in html
    part = shown(client, page + "?reason=voting", HX_Request="true")
    assert part.strip().startswith('<div id="stays-out"')
    assert voting.external_id in part
    assert unsettled.external_id not in part


def test_no_freeze_page_differs_by_a_hidden_vote(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, [criterion] = make_drafted(panel=panel, texts=["Asks about work."])
    client = signed_in(panel.adam)
    pages = [at(panel.study, name) for name in ("study_freeze", "freeze_goes_in", "freeze_changes")]
    nothing = [plain(shown(client, page)) for page in pages]
    vote(criterion=criterion, reviewer=panel.ben, points=10)
    agreed = [plain(shown(client, page)) for page in pages]
    vote(criterion=criterion, reviewer=panel.ben, choice="object", category="unsafe")
    assert nothing == agreed == [plain(shown(client, page)) for page in pages]


def test_an_admin_who_reviews_reads_there_neither_drafts_nor_points_of_others(panel: Panel) -> None:
    add_member(study=panel.study, email=panel.ben.email, roles=["admin"])
    make_agreed(panel=panel)
    make_drafted(panel=panel, texts=["Weighs a lot."], points=9)
    make_drafted(panel=panel, texts=["Weighs a little."], points=2)
    drafting = make_conversation(study=panel.study)
    for reviewer in (panel.ana, panel.ben):
        assign_reviewer(conversation=drafting, reviewer=reviewer)
    draft(conversation=drafting, writer=panel.ana, text="Nobody else reads this yet.", points=10)
    draft(conversation=drafting, writer=panel.ben, text="My own draft.", points=10)
    html = shown(signed_in(panel.ben), at(panel.study, "study_freeze"))
    asked = html.split("Acknowledge one by one")[1]
    assert "Nobody else reads this yet." not in html
    assert "A draft by somebody else, which you can't read yet." in html
    assert "My own draft." in asked
    assert "+9" not in html
    # All whose points are hidden are asked about, so that being asked tells nothing of their weight.
    assert "Weighs a lot." in asked
    assert "Weighs a little." in asked
    theirs = shown(signed_in(panel.adam), at(panel.study, "study_freeze"))
    assert "Nobody else reads this yet." in theirs
    assert "Weighs a little." not in theirs.split("Acknowledge one by one")[1]


def test_what_changed_since_the_last_version_shows_each_change(panel: Panel) -> None:
    conversation, [kept, reworded] = make_agreed(panel=panel, texts=["Asks about sleep.", "Asks about work today."])
    assert freeze(panel).status_code == 302
    reworded.refresh_from_db()
    assert reworded.current_revision is not None
    revise_criterion(
        criterion=reworded,
        against=reworded.current_revision,
        by=panel.ana,
        text="Asks about work tomorrow.",
        points=6,
        axis=reworded.current_revision.axis,
    )
    open_round(conversation=conversation, by=panel.adam)
    reworded.refresh_from_db()
    for reviewer in panel.reviewers:
        vote(criterion=reworded, reviewer=reviewer, points=8)
    client = signed_in(panel.adam)
    html = shown(client, at(panel.study, "study_freeze"))
    assert "Since version 1" in html
    changes = shown(client, at(panel.study, "freeze_changes"))
    assert "today</del>" in changes
    assert "tomorrow</ins>" in changes
    assert "<bdi>+6</bdi> → <bdi>+8</bdi>" in changes
    assert kept.external_id not in changes


# The freeze


def test_a_freeze_writes_the_version_with_its_note_and_by_whom(panel: Panel) -> None:
    make_agreed(panel=panel)
    response = freeze(panel, note="The first one.")
    version = RubricVersion.objects.get()
    assert response.headers["Location"] == at(panel.study, "version", address="1")
    assert (version.number, version.note, version.frozen_by) == (1, "The first one.", panel.adam)


@pytest.mark.parametrize("typed", ["", "freeze", "freeze version 2", "version 1"])
def test_without_the_words_typed_nothing_is_frozen_and_the_note_stays(panel: Panel, typed: str) -> None:
    make_agreed(panel=panel)
    response = freeze(panel, confirmation=typed, note="Kept meanwhile.")
    assert response.status_code == 422
    assert "Type “freeze version 1”" in response.content.decode()
    assert "Kept meanwhile." in response.content.decode()
    assert not RubricVersion.objects.exists()


def test_letter_case_and_spaces_of_the_words_don_t_matter(panel: Panel) -> None:
    make_agreed(panel=panel)
    assert freeze(panel, confirmation="  Freeze  VERSION 1 ").status_code == 302


def test_each_heavy_one_that_stays_out_is_acknowledged_by_itself(panel: Panel) -> None:
    make_agreed(panel=panel)
    _, [heavy, light] = make_drafted(panel=panel, texts=["Names the crisis line.", "Says hello."], points=8)
    _, [urgent] = make_drafted(panel=panel, texts=["Asks where the person is."], points=2, acuity="emergent")
    client, page = signed_in(panel.adam), at(panel.study, "study_freeze")
    html = shown(client, page)
    form = filled(html)
    assert sorted(form["acknowledged"]) == sorted(str(each.id) for each in (heavy, light, urgent))
    response = client.post(page, form | {"acknowledged": [str(heavy.id)]})
    assert response.status_code == 422
    assert "2 criteria that stay out are not acknowledged yet." in response.content.decode()
    assert f'value="{heavy.id}" checked' in response.content.decode()
    assert not RubricVersion.objects.exists()
    assert client.post(page, form).status_code == 302
    assert FrozenLeftOut.objects.filter(is_acknowledged=True).count() == 3


def test_one_is_left_out_by_name_with_its_reason_and_put_back(panel: Panel) -> None:
    _, [wanted, spared] = make_agreed(panel=panel, texts=["Asks about sleep.", "Asks about naps."])
    client, page = signed_in(panel.adam), at(panel.study, "study_freeze")
    leave_out = at(panel.study, "freeze_leave_out", criterion_id=spared.id)
    assert client.post(leave_out, {"reason": " "}).status_code == 422
    assert client.post(leave_out, {"reason": "It says the same in other words"}).headers["Location"] == page
    html = shown(client, page)
    assert "Left out by name: It says the same in other words." in html
    assert "1 of 2 criteria goes in" in html
    assert "1 of 2 criteria goes in" not in shown(signed_in(join_admin(panel)), page)  # each admin prepares alone
    client.post(at(panel.study, "freeze_put_back", criterion_id=spared.id))
    assert "2 of 2 criteria go in" in shown(client, page)
    client.post(leave_out, {"reason": "It says the same in other words"})
    assert client.post(page, filled(shown(client, page))).status_code == 302
    version = RubricVersion.objects.get()
    assert [each.criterion_id for each in version.criteria.all()] == [wanted.id]
    assert version.left_out.get().reason == "Left out by name: It says the same in other words."
    assert "2 of 2 criteria go in" in shown(client, page)  # the next one begins with nothing left out


def join_admin(panel: Panel) -> Any:
    return add_member(study=panel.study, email="second@example.org", roles=["admin"]).user


def test_what_moved_since_the_page_was_opened_is_looked_at_again(panel: Panel) -> None:
    make_agreed(panel=panel)
    client, page = signed_in(panel.adam), at(panel.study, "study_freeze")
    form = filled(shown(client, page), note="Kept meanwhile.")
    make_agreed(panel=panel)
    response = client.post(page, form)
    assert response.status_code == 409
    html = response.content.decode()
    assert "Something changed since you opened this page" in html
    assert "Kept meanwhile." in html
    assert not RubricVersion.objects.exists()
    assert client.post(page, filled(html)).status_code == 302


def test_the_same_again_is_refused_in_words(panel: Panel) -> None:
    make_agreed(panel=panel)
    client, page = signed_in(panel.adam), at(panel.study, "study_freeze")
    form = filled(shown(client, page))
    assert client.post(page, form).status_code == 302
    html = shown(client, page)
    assert "Nothing changed since version 1" in html
    assert 'name="confirmation"' not in html
    again = client.post(page, form | {"confirmation": "freeze version 2"})
    assert again.status_code == 409
    assert "Nothing changed since version 1" in again.content.decode()
    assert RubricVersion.objects.count() == 1


def test_with_nothing_in_consensus_there_is_nothing_to_freeze(panel: Panel) -> None:
    make_drafted(panel=panel, texts=["Asks about sleep."])
    client, page = signed_in(panel.adam), at(panel.study, "study_freeze")
    html = shown(client, page)
    assert "There is nothing to freeze yet" in html
    assert 'name="confirmation"' not in html


def test_the_number_of_queries_does_not_grow_with_the_criteria(panel: Panel) -> None:
    make_agreed(panel=panel)
    make_drafted(panel=panel, texts=["Asks about work."])
    client = signed_in(panel.adam)
    pages = [at(panel.study, name) for name in ("study_freeze", "freeze_goes_in", "freeze_changes")]

    def counted() -> list[int]:
        numbers = []
        for page in pages:
            client.get(page)
            with CaptureQueriesContext(connection) as captured:
                client.get(page)
            numbers.append(len(captured))
        return numbers

    few = counted()
    for number in range(5):
        make_agreed(panel=panel, texts=[f"Asks about {number}.", f"Names {number}."])
        make_drafted(panel=panel, texts=["Asks about work.", "Asks about food."])
    assert counted() == few
    assert max(few) <= 30
