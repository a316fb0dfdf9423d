"""What admins say of a member: conflicts of interest, the licence, a pause. From pages, the API, files, commands."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.assigning import NoSuchAssignment, recuse_from_conversation
from annotation.conflicts import ConflictTooLong, TooManyConflicts, as_conflicts
from annotation.deactivating import deactivate_person
from annotation.importing.members import import_members
from annotation.joining import NobodyByThisAddress, leave_study
from annotation.member_facts import FactsChangedMeanwhile, PauseIsPast, describe_member, facts_seen, pause_member
from annotation.members import change_member
from annotation.models import Assignment, Membership, Round, User, Vote
from tests.factories import Panel, join, make_panel, make_voting, vote
from tests.importing_files import csv_file, jsonl, xlsx_file
from tests.journeys.commands import done
from tests.pages import api, at, got, shown, signed_in

pytestmark = pytest.mark.django_db
COLUMNS = ("email", "roles", "licence_checked", "conflicts")
TODAY = timezone.now().date()


@pytest.fixture
def panel() -> Panel:
    return make_panel(slug="pilot")


def membership(panel: Panel, person: User) -> Membership:
    return Membership.objects.get(study=panel.study, user=person)


def test_conflicts_are_words_each_once_in_any_letter_case(panel: Panel) -> None:
    described = describe_member(
        study=panel.study, person=panel.ana, by=panel.adam, conflicts=["Example  AI", " demo-2 ", "example ai", ""]
    )
    assert described.conflicts == ["Example AI", "demo-2"]
    with pytest.raises(ConflictTooLong):
        as_conflicts(["x" * 201])
    with pytest.raises(TooManyConflicts):
        as_conflicts(str(number) for number in range(101))


def test_who_checked_a_licence_and_when_stands_there_until_it_is_taken_back(panel: Panel) -> None:
    describe_member(study=panel.study, person=panel.ana, by=panel.adam, is_licence_checked=True)
    checked = membership(panel, panel.ana)
    assert checked.licence_checked_by == panel.adam
    describe_member(study=panel.study, person=panel.ana, by=panel.rita, is_licence_checked=True)
    assert membership(panel, panel.ana).licence_checked_at == checked.licence_checked_at
    describe_member(study=panel.study, person=panel.ana, by=panel.adam, is_licence_checked=False)
    taken_back = membership(panel, panel.ana)
    assert (taken_back.licence_checked_at, taken_back.licence_checked_by) == (None, None)


def test_what_somebody_else_said_meanwhile_is_not_overwritten(panel: Panel) -> None:
    seen = facts_seen(membership(panel, panel.ana))
    describe_member(study=panel.study, person=panel.ana, by=panel.adam, conflicts=["Example AI"], seen=seen)
    with pytest.raises(FactsChangedMeanwhile):
        describe_member(study=panel.study, person=panel.ana, by=panel.adam, conflicts=[], seen=seen)
    assert membership(panel, panel.ana).conflicts == ["Example AI"]


def test_a_pause_ends_on_a_day_ahead_and_can_be_taken_back(panel: Panel) -> None:
    for past in (TODAY, TODAY - timedelta(days=1)):
        with pytest.raises(PauseIsPast):
            pause_member(study=panel.study, person=panel.ana, until=past)
    until = TODAY + timedelta(days=10)
    assert pause_member(study=panel.study, person=panel.ana, until=until).paused_until == until
    assert pause_member(study=panel.study, person=panel.ana, until=None).paused_until is None
    with pytest.raises(NobodyByThisAddress):
        pause_member(study=panel.study, person=panel.oscar, until=until)


def test_a_member_s_page_takes_facts_and_a_pause(panel: Panel) -> None:
    member = membership(panel, panel.ana)
    adam = signed_in(panel.adam)
    facts = at(panel.study, "member_facts", membership_id=member.id)
    said = {"conflicts": "Example AI\ndemo-2", "is_licence_checked": "on", "seen": facts_seen(member)}
    assert adam.post(facts, said).status_code == 302
    page = shown(adam, at(panel.study, "member", membership_id=member.id))
    assert "Example AI\ndemo-2" in page
    assert "by Adam" in page
    stale = adam.post(facts, said)
    assert stale.status_code == 409
    assert "Somebody else changed this meanwhile" in stale.content.decode()
    too_long = adam.post(facts, {"conflicts": "x" * 201})
    assert too_long.status_code == 422
    pause = at(panel.study, "member_pause", membership_id=member.id)
    until = TODAY + timedelta(days=10)
    assert adam.post(pause, {"until": f"{TODAY}"}).status_code == 422
    assert adam.post(pause, {"until": "soon"}).status_code == 422
    assert adam.post(pause, {"until": f"{until}"}).status_code == 302
    assert f"pauses until {until:%-d %b %Y}" in shown(adam, at(panel.study, "study_members"))
    assert adam.post(pause, {"until": ""}).status_code == 302
    assert "pauses until" not in shown(adam, at(panel.study, "study_members"))


def test_progress_tells_who_pauses(panel: Panel) -> None:
    make_voting(panel=panel)
    until = TODAY + timedelta(days=10)
    pause_member(study=panel.study, person=panel.ben, until=until)
    page = shown(signed_in(panel.adam), at(panel.study, "study_progress"))
    assert page.count("pauses until") == 1
    assert f"pauses until {until:%-d %b %Y}" in page
    told = {
        each["reviewer"]["name"]: each["paused_until"]
        for each in got(panel.adam, at(panel.study, "api_progress"))["reviewers"]
    }
    assert (told["Ben"], told["Eva"]) == (f"{until}", None)
    Membership.objects.update(paused_until=TODAY)
    assert "pauses until" not in shown(signed_in(panel.adam), at(panel.study, "study_progress"))


def test_the_api_takes_facts_and_a_pause(panel: Panel) -> None:
    member = membership(panel, panel.ana)
    client = api(panel.adam)
    facts = at(panel.study, "api_member_facts", membership_id=member.id)
    answer = client.put(facts, {"conflicts": ["Example AI"]}, format="json").json()
    assert (answer["conflicts"], answer["licence_checked_at"]) == (["Example AI"], None)
    answer = client.put(facts, {"is_licence_checked": True, "seen": answer["facts_seen"]}, format="json").json()
    assert answer["conflicts"] == ["Example AI"]
    assert answer["licence_checked_at"]
    assert client.put(facts, {"conflicts": [], "seen": "x"}, format="json").status_code == 409
    pause = at(panel.study, "api_member_pause", membership_id=member.id)
    until = f"{TODAY + timedelta(days=3)}"
    assert client.put(pause, {"until": until}, format="json").json()["paused_until"] == until
    assert client.put(pause, {"until": f"{TODAY}"}, format="json").status_code == 409
    assert client.put(pause, {"until": None}, format="json").json()["paused_until"] is None
    for name in ("ana", "rita"):
        assert api(getattr(panel, name)).put(pause, {"until": until}, format="json").status_code == 403
        assert api(getattr(panel, name)).put(facts, {"conflicts": []}, format="json").status_code == 403


@pytest.mark.parametrize("kind", ["csv", "xlsx", "jsonl"])
def test_a_file_brings_licences_and_conflicts_and_the_same_again_changes_nothing(panel: Panel, kind: str) -> None:
    rows = (
        ("ana@example.org", "clinician", "yes", "Example AI | demo-2"),
        ("fern@example.org", "clinician", "", "demo-3"),
    )

    def take_in() -> tuple[int, int]:
        if kind == "jsonl":
            file = jsonl(*(dict(zip(COLUMNS, row, strict=True)) for row in rows))
        else:
            file = (csv_file if kind == "csv" else xlsx_file)(COLUMNS, *rows)
        report = import_members(study=panel.study, source=file, file_name="p.csv", by=panel.adam, check=False)
        assert report.errors == []
        return report.created, report.unchanged

    describe_member(study=panel.study, person=panel.ana, by=panel.rita, conflicts=["EXAMPLE AI", "other"])
    assert take_in() == (2, 0)
    ana = membership(panel, panel.ana)
    assert ana.conflicts == ["EXAMPLE AI", "other", "demo-2"]
    assert ana.licence_checked_by == panel.adam
    fern = membership(panel, User.objects.get(email="fern@example.org"))
    assert (fern.conflicts, fern.licence_checked_at) == (["demo-3"], None)
    assert take_in() == (0, 2)


def test_what_a_file_says_unreadably_of_licence_and_conflicts_is_an_error(panel: Panel) -> None:
    file = csv_file(COLUMNS, ("ana@example.org", "clinician", "maybe", ""), ("b@x.org", "clinician", "", "x" * 201))
    report = import_members(study=panel.study, source=file, file_name="p.csv", by=None, check=False)
    assert [(finding.line, finding.column) for finding in report.errors] == [(2, "licence_checked"), (3, "conflicts")]


def test_a_command_adds_conflicts_and_a_checked_licence(panel: Panel) -> None:
    words = ("--conflict", "Example AI", "--licence-checked", "--by", "adam@example.org")
    done("add_member", "pilot", "fern@example.org", "--role", "clinician", *words)
    fern = Membership.objects.get(user__email="fern@example.org")
    assert (fern.conflicts, fern.licence_checked_by) == (["Example AI"], panel.adam)


# Work that is left behind


def leave(panel: Panel) -> None:
    leave_study(study=panel.study, person=panel.ben)


def lose_the_role(panel: Panel) -> None:
    change_member(study=panel.study, person=panel.ben, roles=["researcher"])


def be_deactivated(panel: Panel) -> None:
    deactivate_person(person=panel.ben)


@pytest.mark.parametrize("go", [leave, lose_the_role, be_deactivated])
def test_who_goes_is_followed_by_another_and_the_round_waits_for_that_one(
    panel: Panel, go: Callable[[Panel], None]
) -> None:
    conversation, [criterion], opened = make_voting(panel=panel)
    settled, [done_with], _ = make_voting(panel=panel, external_id="settled")
    for reviewer in panel.reviewers:
        vote(criterion=done_with, reviewer=reviewer)
        if reviewer != panel.ben:
            vote(criterion=criterion, reviewer=reviewer)
    fern = join(study=panel.study, name="fern")
    go(panel)
    substitute = Assignment.objects.get(reviewer=fern)
    assert (substitute.conversation, substitute.origin) == (conversation, Assignment.Origin.SUBSTITUTE)
    assert Round.objects.get(pk=opened.pk).revealed_at is None
    vote(criterion=criterion, reviewer=fern)
    assert Round.objects.get(pk=opened.pk).revealed_at is not None
    assert Vote.objects.filter(reviewer=panel.ben, round__conversation=settled).exists()


@pytest.mark.parametrize("go", [leave, be_deactivated])
def test_where_nobody_is_left_to_follow_the_round_goes_on_without(panel: Panel, go: Callable[[Panel], None]) -> None:
    _, [criterion], opened = make_voting(panel=panel)
    for reviewer in panel.reviewers:
        if reviewer != panel.ben:
            vote(criterion=criterion, reviewer=reviewer)
    go(panel)
    assert Round.objects.get(pk=opened.pk).revealed_at is not None


def come_back(panel: Panel) -> None:
    change_member(study=panel.study, person=panel.ben, roles=["clinician"])


def recuse(panel: Panel) -> None:
    with pytest.raises(NoSuchAssignment):
        recuse_from_conversation(conversation=panel.study.conversations.get(), by=panel.ben)


@pytest.mark.parametrize("then", [[leave], [be_deactivated], [recuse], [come_back, lose_the_role], [come_back, recuse]])
def test_a_seat_that_was_taken_brings_no_second_substitute(panel: Panel, then: list[Callable[[Panel], None]]) -> None:
    make_voting(panel=panel)
    for name in ("fern", "gus"):
        join(study=panel.study, name=name)
    lose_the_role(panel)
    for act in then:
        act(panel)
    assert Assignment.objects.filter(origin=Assignment.Origin.SUBSTITUTE).count() == 1


def test_who_comes_back_reviews_where_nobody_took_the_seat(panel: Panel) -> None:
    _, [criterion], opened = make_voting(panel=panel)
    lose_the_role(panel)
    come_back(panel)
    for reviewer in panel.reviewers:
        vote(criterion=criterion, reviewer=reviewer)
    assert Round.objects.get(pk=opened.pk).revealed_at is not None


def test_nobody_who_pauses_or_has_a_conflict_follows(panel: Panel) -> None:
    conversation, _, _ = make_voting(panel=panel)
    fern, gus = join(study=panel.study, name="fern"), join(study=panel.study, name="gus")
    pause_member(study=panel.study, person=fern, until=TODAY + timedelta(days=3))
    describe_member(study=panel.study, person=gus, by=panel.adam, conflicts=[conversation.external_id])
    leave(panel)
    assert not Assignment.objects.filter(reviewer__in=[fern, gus]).exists()
