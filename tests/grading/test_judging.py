"""Judging by hand: who may, what is left, what ends blindness."""

import pytest

from annotation.models import Conversation
from grading.judging import (
    BlindVerdictStands,
    NotAClinician,
    ResponseFailed,
    find_to_judge,
    give_verdict,
    judging_progress,
    next_to_judge,
    open_grades,
    shared_wordings,
    take_back_verdict,
    waiting_to_judge,
)
from grading.models import ReviewerVerdict
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from tests.factories import make_panel, make_voting, vote
from tests.grading.graded_runs import make_graded, make_response, make_version

pytestmark = pytest.mark.django_db
MET, NOT_MET = ReviewerVerdict.Verdict.MET, ReviewerVerdict.Verdict.NOT_MET


def test_each_pair_is_judged_once_and_can_be_changed() -> None:
    graded = make_graded()
    ben = graded.panel.ben
    for response in graded.responses:
        for criterion in graded.criteria:
            assert next_to_judge(graded.version, ben) is not None
            give_verdict(response=response, criterion=criterion, reviewer=ben, verdict=MET)
            give_verdict(response=response, criterion=criterion, reviewer=ben, verdict=NOT_MET)
    assert next_to_judge(graded.version, ben) is None
    assert judging_progress(graded.version, ben) == (6, 6)
    assert set(ReviewerVerdict.objects.values_list("verdict", flat=True)) == {"not_met"}


def test_a_researcher_does_not_judge() -> None:
    graded = make_graded()
    with pytest.raises(NotAClinician):
        give_verdict(
            response=graded.responses[0], criterion=graded.criteria[0], reviewer=graded.panel.rita, verdict=MET
        )


def test_who_opened_the_grades_is_no_blind_judge() -> None:
    graded = make_graded()
    open_grades(run=graded.run, by=graded.panel.ben)
    given = give_verdict(
        response=graded.responses[0], criterion=graded.criteria[0], reviewer=graded.panel.ben, verdict=MET
    )
    assert not given.is_blind


def test_a_blind_verdict_stands_once_its_judge_has_opened_the_grades() -> None:
    graded = make_graded()
    ben, response, (first, second, _) = graded.panel.ben, graded.responses[0], graded.criteria
    given = give_verdict(response=response, criterion=first, reviewer=ben, verdict=MET, comment="Yes.")
    open_grades(run=graded.run, by=ben)
    for verdict, comment in ((NOT_MET, "Yes."), (ReviewerVerdict.Verdict.CANNOT_TELL, "Yes."), (MET, "Now I know.")):
        with pytest.raises(BlindVerdictStands):
            give_verdict(response=response, criterion=first, reviewer=ben, verdict=verdict, comment=comment)
    with pytest.raises(BlindVerdictStands):
        take_back_verdict(response=response, criterion=first, reviewer=ben)
    again = give_verdict(response=response, criterion=first, reviewer=ben, verdict=MET, comment="Yes.")
    assert (again.id, again.is_blind, again.given_at) == (given.id, True, given.given_at)
    late = give_verdict(response=response, criterion=second, reviewer=ben, verdict=MET)
    changed = give_verdict(response=response, criterion=second, reviewer=ben, verdict=NOT_MET)
    assert (late.id, changed.is_blind) == (changed.id, False), "what was not blind may change and stays so"
    this = find_to_judge(graded.version, ben, response)
    assert this.last_judged == second, "and only that can be taken back"


def test_a_verdict_is_taken_back_while_it_is_blind() -> None:
    graded = make_graded()
    ben, response, (first, second, _) = graded.panel.ben, graded.responses[0], graded.criteria
    for criterion in (second, first):
        give_verdict(response=response, criterion=criterion, reviewer=ben, verdict=MET)
    assert find_to_judge(graded.version, ben, response).last_judged == first
    assert take_back_verdict(response=response, criterion=first, reviewer=ben)
    assert not take_back_verdict(response=response, criterion=first, reviewer=ben)
    assert find_to_judge(graded.version, ben, response).last_judged == second
    assert judging_progress(graded.version, ben) == (1, 6)


def test_a_response_is_left_for_later_and_own_languages_come_first() -> None:
    panel = make_panel()
    version, _ = make_version(panel=panel)
    conversation = version.conversations.get().conversation
    for name in ("a", "b", "c"):
        make_response(version=version, respondent=f"model-{name}")
    foreign = Conversation.objects.create(
        study=panel.study,
        external_id="case-es",
        messages=conversation.messages,
        item_sha256=conversation.item_sha256,
        language="es-MX",
        external_name="elsewhere",
    )
    respondent = make_response(version=version, respondent="model-d").respondent
    spanish = respondent.responses.create(study=panel.study, conversation=foreign, text="Hola.")
    ben = panel.ben
    ben.languages = ["en"]
    ben.save()
    seen = [next_to_judge(version, ben)]
    for _ in range(5):
        assert seen[-1] is not None
        seen.append(next_to_judge(version, ben, after=seen[-1].id))
    assert len(set(seen[:5])) == 5
    assert seen[4] == spanish, "what ben doesn't read comes last"
    assert seen[5] == seen[0], "and around"
    assert waiting_to_judge(panel.study, ben) == 4
    for criterion in version.criteria.select_related("frozen_conversation"):
        assert seen[0] is not None
        give_verdict(response=seen[0], criterion=criterion, reviewer=ben, verdict=MET)
    assert seen[0] is not None
    assert next_to_judge(version, ben, after=seen[0].id) == seen[1], "on from a response that is judged"
    assert waiting_to_judge(panel.study, ben) == 3


def test_a_verdict_counts_for_each_version_that_holds_the_wording() -> None:
    panel = make_panel()
    first, _ = make_version(panel=panel)
    _, criteria, _ = make_voting(panel=panel, texts=["Says that help is near."], external_id="another-case")
    for criterion in criteria:
        for reviewer in panel.reviewers:
            vote(criterion=criterion, reviewer=reviewer)
    second = freeze_version(study=panel.study, by=panel.adam, note="", acknowledged=ACKNOWLEDGE_ALL)
    assert shared_wordings([first, second]) == {first.id: [second], second.id: [first]}
    assert shared_wordings([first]) == {first.id: []}


@pytest.mark.parametrize("text", ["", " \n\t ", "\N{NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}"])
def test_a_blank_response_has_failed_and_is_never_judged(text: str) -> None:
    panel = make_panel()
    version, _ = make_version(panel=panel)
    response = make_response(version=version, respondent="model-a", text=text)
    response.refresh_from_db()
    assert response.is_failed
    assert next_to_judge(version, panel.ben) is None
    with pytest.raises(ResponseFailed):
        give_verdict(response=response, criterion=version.criteria.all()[0], reviewer=panel.ben, verdict=MET)
