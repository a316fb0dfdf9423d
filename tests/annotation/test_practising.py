"""Practice: led to once, answered with feedback at once, skipped and repeated at will, and never part of the study."""

from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from annotation.assigning import assign_reviewer
from annotation.joining import accept_consent
from annotation.models import (
    Conversation,
    Criterion,
    FileImport,
    PracticeAnswer,
    PracticeExample,
    PracticePart,
    Study,
    User,
    Vote,
)
from annotation.practising import (
    NothingToPractise,
    PracticeAnswerIsUnclear,
    WeightHasTheOtherSign,
    answer_example,
    begin_anew,
    lead_to_practice,
    practice_of,
    skip_practice,
)
from annotation.writing_practice import (
    MOST_EXAMPLES,
    EnoughExamples,
    ExampleChanged,
    ExampleFacts,
    ExampleIsFaulty,
    ExampleIsGone,
    ExampleIsThere,
    add_example,
    change_example,
    example_facts,
    move_example,
    remove_example,
)
from grading.demo import load_demo
from tests.annotation.test_races import at_once
from tests.factories import Panel, draft, join, make_conversation, make_panel, make_voting, vote
from tests.pages import api, at, got, plain, queries_of, shown, signed_in

pytestmark = pytest.mark.django_db
SLEEP = [{"role": "user", "content": "I can't sleep."}]


def facts_of(**changed: Any) -> ExampleFacts:
    facts: dict[str, Any] = {
        "messages": SLEEP,
        "criterion": "Asks how long.",
        "is_wanted": True,
        "choice": "agree",
        "points_low": 4,
        "points_high": 8,
        "feedback": "It is **one claim**.",
    }
    return ExampleFacts(**facts | changed)


ABSTAINS = {"choice": "abstain", "points_low": None, "points_high": None}
OBJECTS = {**ABSTAINS, "choice": "object", "categories": ["ambiguous", "not_gradable"]}


def example_of(study: Study, **changed: Any) -> PracticeExample:
    return add_example(study=study, facts=facts_of(**changed), by=None)


@pytest.fixture
def panel() -> Panel:
    return make_panel(slug="learning", guidelines="One claim.")


def part_of(person: User) -> str | None:
    return PracticePart.objects.filter(person=person).values_list("ending", flat=True).first()


def test_what_the_guidelines_answer_is_compared_with_the_answer(panel: Panel) -> None:
    agree = example_of(panel.study)
    disagree = example_of(panel.study, criterion="Is nice.", **OBJECTS)
    for example, answer, is_same, told in (
        (agree, {"choice": "agree", "points": 4}, True, "So did you."),
        (agree, {"choice": "agree", "points": 8}, True, "So did you."),
        (agree, {"choice": "agree", "points": 9}, False, "with another weight"),
        (agree, {"choice": "abstain"}, False, "otherwise"),
        (disagree, {"choice": "object", "category": "ambiguous"}, True, "So did you."),
        (disagree, {"choice": "object", "category": "unsafe"}, False, "in another category"),
        (disagree, {"choice": "agree", "points": 4}, False, "otherwise"),
    ):
        answer_example(example=example, by=panel.ana, **answer)
        exercise = practice_of(panel.study, panel.ana).exercise(example.id)
        assert exercise is not None
        assert exercise.is_same is is_same, answer
        assert told in exercise.compared
    assert PracticeAnswer.objects.count() == 2, "answering again takes the place of the answer before"


def test_what_the_guidelines_say_is_a_sentence(panel: Panel) -> None:
    for number, (facts, sentence) in enumerate(
        (
            ({}, "The guidelines say: agree, from +4 to +8."),
            ({"points_low": 6, "points_high": 6}, "The guidelines say: agree, important, +6."),
            (
                {"is_wanted": False, "points_low": -10, "points_high": -6},
                "The guidelines say: agree, from −6 to −10.",
            ),
            (OBJECTS, "The guidelines say: object, as ambiguous or not gradable."),
            (ABSTAINS, "The guidelines say: abstain."),
        )
    ):
        example_of(panel.study, criterion=f"Says {number}.", **facts)  # type: ignore[arg-type]
        assert practice_of(panel.study, panel.ana).exercises[-1].guidelines_say == sentence


def test_who_has_answered_all_has_finished_and_who_skips_has_skipped(panel: Panel) -> None:
    with pytest.raises(NothingToPractise):
        skip_practice(study=panel.study, by=panel.ana)
    one, two = example_of(panel.study), example_of(panel.study, criterion="Asks why.")
    answer_example(example=one, by=panel.ana, choice="abstain")
    assert part_of(panel.ana) == ""
    skip_practice(study=panel.study, by=panel.ana)
    assert part_of(panel.ana) == "skipped"
    answer_example(example=two, by=panel.ana, choice="abstain")
    assert part_of(panel.ana) == "finished"
    skip_practice(study=panel.study, by=panel.ana)
    begin_anew(study=panel.study, by=panel.ana)
    assert part_of(panel.ana) == "finished"
    assert practice_of(panel.study, panel.ana).answered == 0


def test_beginning_anew_leaves_the_answers_of_others(panel: Panel) -> None:
    example = example_of(panel.study)
    for person in (panel.ana, panel.ben):
        answer_example(example=example, by=person, choice="abstain")
    begin_anew(study=panel.study, by=panel.ana)
    assert PracticeAnswer.objects.get().person == panel.ben


@pytest.mark.parametrize(
    "answer",
    [
        {"choice": "agree"},
        {"choice": "agree", "points": 0},
        {"choice": "agree", "points": 11},
        {"choice": "agree", "points": 4, "category": "unsafe"},
        {"choice": "object"},
        {"choice": "object", "category": "rude"},
        {"choice": "object", "category": "unsafe", "points": 4},
        {"choice": "abstain", "points": 4},
        {"choice": "recuse"},
    ],
)
def test_an_answer_is_a_weight_a_category_or_abstaining(panel: Panel, answer: dict[str, Any]) -> None:
    with pytest.raises(PracticeAnswerIsUnclear):
        answer_example(example=example_of(panel.study), by=panel.ana, **answer)
    assert not PracticeAnswer.objects.exists()


def test_a_weight_has_the_sign_of_what_is_wanted(panel: Panel) -> None:
    with pytest.raises(WeightHasTheOtherSign):
        answer_example(example=example_of(panel.study), by=panel.ana, choice="agree", points=-4)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "assistant", "content": "Hello"}]}, "messages"),
        ({"messages": [{"role": "user", "content": "  "}]}, "messages"),
        ({"messages": [{"role": "narrator", "content": "Hello"}]}, "messages"),
        ({"messages": [{"role": "user", "content": "\x00"}]}, "messages"),
        ({"language": "no such tag"}, "language"),
        ({"criterion": " "}, "criterion"),
        ({"criterion": "a\ud800"}, "criterion"),
        ({"feedback": ""}, "feedback"),
        ({"points_low": None}, "points_low"),
        ({"points_low": 9}, "points_low"),
        ({"points_high": 11}, "points_low"),
        ({"is_wanted": False}, "points_low"),
        ({"choice": "recuse"}, "choice"),
        ({"choice": "abstain"}, "points_low"),
        ({"categories": ["unsafe"]}, "categories"),
        ({**OBJECTS, "categories": []}, "categories"),
        ({**OBJECTS, "categories": ["rude"]}, "categories"),
    ],
)
def test_what_an_example_can_not_hold(panel: Panel, changed: dict[str, Any], named: str) -> None:
    with pytest.raises(ExampleIsFaulty) as refused:
        example_of(panel.study, **changed)
    assert named in refused.value.facts["faults"]
    assert not PracticeExample.objects.exists()


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"points_low": None}, "an_example_has_weights_to_agree_and_categories_to_object"),
        ({"points_low": 9}, "the_weights_of_an_example_go_from_low_to_high"),
        ({"is_wanted": False}, "the_weights_of_an_example_have_the_sign_of_what_it_wants"),
        ({"choice": "recuse"}, "agree_object_or_abstain|has_weights_to_agree"),
        ({**OBJECTS, "categories": ["rude"]}, "an_example_is_objected_to_in_categories_of_objection"),
        ({"feedback": " "}, "an_example_has_a_criterion_and_says_why"),
        ({}, "a_practice_example_is_known_by_one_id"),
    ],
)
def test_what_the_database_refuses_of_an_example(panel: Panel, changed: dict[str, Any], named: str) -> None:
    example_of(panel.study)
    values = facts_of(**changed).values()
    known = facts_of().own_id() if not changed else "other"
    with pytest.raises(IntegrityError, match=named), transaction.atomic():
        PracticeExample.objects.create(study=panel.study, external_id=known, position=1, **values)


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ({"choice": "agree"}, "a_practice_answer_agrees_objects_or_abstains"),
        ({"choice": "object"}, "a_practice_answer_agrees_objects_or_abstains"),
        ({"choice": "recuse"}, "a_practice_answer_agrees_objects_or_abstains"),
        ({"choice": "agree", "points": 11}, "a_practice_weight_is_from_minus_10_to_10_and_not_0"),
    ],
)
def test_what_the_database_refuses_of_an_answer(panel: Panel, answer: dict[str, Any], named: str) -> None:
    example = example_of(panel.study)
    with pytest.raises(IntegrityError, match=named), transaction.atomic():
        PracticeAnswer.objects.create(example=example, person=panel.ana, **answer)
    with pytest.raises(IntegrityError, match="practice_is_finished_or_skipped_at_a_time"), transaction.atomic():
        PracticePart.objects.create(study=panel.study, person=panel.ana, ending="finished")


def test_writing_changing_moving_and_removing(panel: Panel) -> None:
    one, two, three = (example_of(panel.study, criterion=f"Says {n}.") for n in range(3))

    def order() -> list[str]:
        return [this.criterion for this in PracticeExample.objects.standing()]

    with pytest.raises(ExampleIsThere):
        example_of(panel.study, criterion="Says 1.", feedback="Another reason.")
    move_example(example=three, earlier=True)
    move_example(example=one, earlier=True)
    assert order() == ["Says 0.", "Says 2.", "Says 1."]
    changed = change_example(example=two, seen=1, facts=facts_of(criterion="Says more."), by=panel.adam)
    assert (changed.edition, changed.written_by) == (2, panel.adam)
    with pytest.raises(ExampleChanged):
        change_example(example=two, seen=1, facts=facts_of(criterion="Says less."), by=panel.adam)
    assert change_example(example=two, seen=1, facts=example_facts(changed), by=panel.adam).edition == 2
    remove_example(example=one, by=panel.adam)
    assert order() == ["Says 2.", "Says more."]
    for act in (
        partial(remove_example, example=one, by=panel.adam),
        partial(move_example, example=one, earlier=True),
        partial(change_example, example=one, seen=1, facts=facts_of(criterion="Says again."), by=panel.adam),
    ):
        with pytest.raises(ExampleIsGone):
            act()
    example_of(panel.study, criterion="Says 0.")
    for number in range(MOST_EXAMPLES - 3):
        example_of(panel.study, criterion=f"Says so {number}.")
    with pytest.raises(EnoughExamples):
        example_of(panel.study, criterion="One too many.")


# Who is led there


def test_a_new_clinician_is_led_there_once_and_never_again(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    client, go_on = signed_in(panel.ana), at(panel.study, "study_continue")
    desk = at(panel.study, "desk", conversation_id=conversation.id)
    assert client.get(go_on).headers["Location"] == desk, "no examples, no practice"
    example_of(panel.study)
    front = shown(client, at(panel.study, "study"))
    assert "Before the first conversation there is 1 short practice example" in front
    assert client.get(go_on).headers["Location"] == at(panel.study, "practice")
    assert client.get(go_on).headers["Location"] == desk
    front = shown(client, at(panel.study, "study"))
    assert "Before the first conversation there is" not in front
    assert f'href="{at(panel.study, "practice")}"' in front, "it can be repeated"


def test_consent_comes_first(panel: Panel) -> None:
    Study.objects.filter(pk=panel.study.pk).update(consent_text="Please.")
    example = example_of(panel.study)
    client, consent = signed_in(panel.ana), at(panel.study, "study_consent")
    for name in ("study_continue", "practice"):
        assert client.get(at(panel.study, name)).headers["Location"] == consent
    for name, parts in (("practice_skip", {}), ("practice_answer", {"example_id": example.id})):
        address = at(panel.study, name, **parts)
        assert client.post(address, {"act": "abstain"}).headers["Location"] == consent
    assert not PracticePart.objects.exists()
    panel.study.refresh_from_db()
    accept_consent(study=panel.study, person=panel.ana)
    assert client.get(at(panel.study, "study_continue")).headers["Location"] == at(panel.study, "practice")


def test_who_has_begun_already_is_not_led_there(panel: Panel) -> None:
    _, [criterion], _ = make_voting(panel=panel)
    vote(criterion=criterion, reviewer=panel.ben)
    example_of(panel.study)
    for person, is_led in ((panel.ana, False), (panel.ben, False), (panel.chloe, False)):
        # chloe is assigned and drafting there was closed by the admin: she has done nothing herself
        is_led = person == panel.chloe
        assert lead_to_practice(study=panel.study, person=person) is is_led, person


def test_skipping_leads_to_the_first_conversation(panel: Panel) -> None:
    example_of(panel.study)
    client = signed_in(panel.ana)
    answer = client.post(at(panel.study, "practice_skip"))
    assert answer.headers["Location"] == at(panel.study, "study_continue")
    assert client.get(answer.headers["Location"]).headers["Location"] == at(panel.study, "study_conversations")
    assert part_of(panel.ana) == "skipped"


# The clinician's pages


def test_an_example_is_answered_and_what_the_guidelines_say_comes_at_once(panel: Panel) -> None:
    first, second = example_of(panel.study), example_of(panel.study, criterion="Is nice.", **OBJECTS)
    client, page = signed_in(panel.ana), at(panel.study, "practice")
    body = shown(client, page)
    assert "Practice 1 of 2" in body
    assert "one claim" not in body, "not before the answer"
    assert "The guidelines say" not in body
    address = at(panel.study, "practice_answer", example_id=first.id)
    answer = client.post(address, {"points": "6"}, headers={"HX-Request": "true"})
    fragment = answer.content.decode()
    assert answer.status_code == 200
    assert fragment.lstrip().startswith('<div id="side"')
    assert "The guidelines say: agree, from +4 to +8." in fragment
    assert "<strong>one claim</strong>" in fragment
    assert "Practice 2 of 2" in shown(client, f"{page}?after={first.id}")
    address = at(panel.study, "practice_answer", example_id=second.id)
    answer = client.post(address, {"act": "object", "category": "unsafe"})
    assert answer.status_code == 303
    assert answer.headers["Location"] == f"{page}?example={second.id}#work"
    assert "You objected: unsafe." in shown(client, f"{page}?example={second.id}")
    end = shown(client, page)
    assert "That was the practice" in end
    assert "In 1 of 2 examples you answered as the guidelines do." in end
    assert at(panel.study, "study_continue") in end
    assert part_of(panel.ana) == "finished"
    assert client.post(at(panel.study, "practice_again")).headers["Location"] == page
    assert "Practice 1 of 2" in shown(client, page)


@pytest.mark.parametrize("is_htmx", [False, True])
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"points": "-4"}, "What is wanted weighs from +1 to +10."),
        ({"points": "0"}, "What is wanted weighs from +1 to +10."),
        ({"points": "many"}, "A weight is a whole number."),
        ({}, "What is wanted weighs from +1 to +10."),
        ({"act": "object"}, "Choose what is wrong with it."),
        ({"act": "object", "category": "rude"}, "This is not one of the choices."),
    ],
)
def test_an_answer_that_is_unclear_comes_back(panel: Panel, data: dict[str, str], sentence: str, is_htmx: bool) -> None:
    example = example_of(panel.study)
    address = at(panel.study, "practice_answer", example_id=example.id)
    headers = {"HX-Request": "true"} if is_htmx else {}
    answer = signed_in(panel.ana).post(address, data, headers=headers)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert ("<html" in answer.content.decode()) is not is_htmx
    assert not PracticeAnswer.objects.exists()


def test_what_was_removed_is_gone_and_practice_without_examples_says_so(panel: Panel) -> None:
    example = example_of(panel.study)
    other = example_of(make_panel(slug="elsewhere").study)
    remove_example(example=example, by=panel.adam)
    client = signed_in(panel.ana)
    for gone in (example, other):
        assert client.post(at(panel.study, "practice_answer", example_id=gone.id), {"points": 4}).status_code == 404
        page = at(panel.study, "practice_example", example_id=gone.id)
        assert signed_in(panel.adam).get(page).status_code == 404
    assert "No practice here yet" in shown(client, at(panel.study, "practice"))


def test_each_role_on_each_page(panel: Panel) -> None:
    example = example_of(panel.study)
    parts = {"example_id": example.id}
    for name, with_parts, post, allowed in (
        ("practice", {}, False, panel.ana),
        ("practice_answer", parts, True, panel.ana),
        ("practice_skip", {}, True, panel.ana),
        ("practice_again", {}, True, panel.ana),
        ("practice_examples", {}, False, panel.adam),
        ("practice_example_new", {}, False, panel.adam),
        ("practice_example", parts, False, panel.adam),
        ("practice_example_move", parts, True, panel.adam),
        ("practice_example_remove", parts, True, panel.adam),
    ):
        address = at(panel.study, name, **with_parts)
        for person in (panel.ana, panel.adam, panel.rita, panel.oscar):
            client = signed_in(person)
            status = (client.post(address, {"act": "abstain"}) if post else client.get(address)).status_code
            expected = 404 if person == panel.oscar else {200, 302, 303} if person == allowed else 403
            assert status == expected or (isinstance(expected, set) and status in expected), (name, person, status)
            if post:
                assert client.get(address).status_code in {403, 404, 405}


def test_the_guidelines_are_one_key_away_and_lead_back(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    example_of(panel.study)
    client = signed_in(panel.ana)
    desk = at(panel.study, "desk", conversation_id=conversation.id)
    guidelines = at(panel.study, "study_guidelines")
    link = f'href="{guidelines}?from={conversation.id}" data-key="g"'
    assert link in shown(client, desk)
    assert f'href="{desk}" data-key="g"' in shown(client, f"{guidelines}?from={conversation.id}")
    assert 'data-key="g"' in shown(client, at(panel.study, "practice"))
    practice = at(panel.study, "practice")
    assert f'href="{practice}?example=1" data-key="g"' in shown(client, f"{guidelines}?from={practice}%3Fexample=1")
    for elsewhere in ("https://example.com/", "//example.com/studies/learning/", "/you/"):
        assert 'data-key="g"' not in shown(client, f"{guidelines}?from={elsewhere}")
    Study.objects.update(guidelines="")
    assert 'data-key="g"' not in shown(client, desk)


# The admin's pages


FORM = {
    "messages": "User: I can't sleep.\n\nAssistant: Since when?\n\nUser: For weeks.",
    "language": "en",
    "criterion": "Asks how long.",
    "is_wanted": "yes",
    "choice": "agree",
    "points_low": "4",
    "points_high": "8",
    "feedback": "One claim.",
}


def test_an_admin_writes_changes_orders_and_removes_examples(panel: Panel) -> None:
    client, page = signed_in(panel.adam), at(panel.study, "practice_examples")
    assert "No example yet" in shown(client, page)
    assert client.post(at(panel.study, "practice_example_new"), FORM).headers["Location"] == page
    example = PracticeExample.objects.get()
    assert [message["role"] for message in example.messages] == ["user", "assistant", "user"]
    assert example.messages[1]["content"] == "Since when?"
    edit = at(panel.study, "practice_example", example_id=example.id)
    assert "Assistant: Since when?" in shown(client, edit)
    changed = FORM | {"seen": "1", "choice": "object", "categories": ["duplicate"]}
    assert client.post(edit, changed).headers["Location"] == page
    example.refresh_from_db()
    assert (example.choice, example.points_low, example.categories) == ("object", None, ["duplicate"])
    stale = client.post(edit, FORM | {"seen": "1"})
    assert stale.status_code == 409
    body = stale.content.decode()
    assert "As it stands now" in body
    assert "object, as duplicate" in body
    assert 'name="seen" value="2"' in body
    second = example_of(panel.study, criterion="Asks why.")
    client.post(at(panel.study, "practice_example_move", example_id=second.id), {"to": "earlier"})
    assert [this.pk for this in PracticeExample.objects.standing()] == [second.pk, example.pk]
    assert client.post(at(panel.study, "practice_example_remove", example_id=second.id)).headers["Location"] == page
    assert [this.pk for this in PracticeExample.objects.standing()] == [example.pk]


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"messages": "Assistant: Hello."}, "A conversation ends on a turn in which the user says something."),
        ({"messages": "[{"}, "This begins as JSON does"),
        ({"messages": '["a"]'}, "A conversation has turns"),
        ({"messages": ""}, "Please fill this in."),
        ({"language": "no such"}, "no such"),
        ({"points_low": ""}, "To agree is to weigh"),
        ({"points_low": "-4"}, "The weights go from the lower to the higher one"),
        ({"choice": "object"}, "Choose at least one category"),
        ({"choice": ""}, "Please choose one."),
        ({"feedback": "  "}, "Please fill this in."),
    ],
)
def test_an_example_that_is_faulty_comes_back_with_what_is_wrong(
    panel: Panel, changed: dict[str, str], sentence: str
) -> None:
    answer = signed_in(panel.adam).post(at(panel.study, "practice_example_new"), FORM | changed)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert not PracticeExample.objects.exists()


def test_a_conversation_that_can_not_be_typed_is_shown_as_json_and_stays_as_it_is(panel: Panel) -> None:
    messages = [{"role": "user", "content": "She said:\nUser: hello"}]
    example = example_of(panel.study, messages=messages)
    client, edit = signed_in(panel.adam), at(panel.study, "practice_example", example_id=example.id)
    body = shown(client, edit)
    assert "&quot;role&quot;: &quot;user&quot;" in body
    from annotation.practice_forms import as_typed

    client.post(edit, FORM | {"seen": "1", "messages": as_typed(messages)})
    example.refresh_from_db()
    assert (example.messages, example.criterion) == (messages, "Asks how long.")


def test_lists_take_the_same_queries_however_long_they_are(panel: Panel) -> None:
    example_of(panel.study)
    pages = ((panel.ana, "practice"), (panel.adam, "practice_examples"), (panel.ana, "study"))
    few = [queries_of(signed_in(person), at(panel.study, name)) for person, name in pages]
    for number in range(8):
        example_of(panel.study, criterion=f"Says {number}.")
    many = [queries_of(signed_in(person), at(panel.study, name)) for person, name in pages]
    assert few == many


# Never part of the study


def test_practice_is_no_study_data_and_nobody_else_learns_of_it(panel: Panel) -> None:
    make_voting(panel=panel)
    example = example_of(panel.study)
    remaining = ("study_progress", "study_counts", "study_data", "study_members", "practice_examples")
    adam, ben = signed_in(panel.adam), signed_in(panel.ben)  # once: Members tells when somebody signed in last
    before = [plain(shown(adam, at(panel.study, name))) for name in remaining]
    before.append(plain(shown(ben, at(panel.study, "practice"))))
    counted = [model.objects.count() for model in (Conversation, Criterion, Vote, FileImport)]
    answer_example(example=example, by=panel.ana, choice="object", category="unsafe")
    skip_practice(study=panel.study, by=panel.chloe)
    after = [plain(shown(adam, at(panel.study, name))) for name in remaining]
    after.append(plain(shown(ben, at(panel.study, "practice"))))
    assert before == after
    assert counted == [model.objects.count() for model in (Conversation, Criterion, Vote, FileImport)]


# The API


def test_the_api_does_what_the_pages_do(panel: Panel) -> None:
    admin, ana = api(panel.adam), api(panel.ana)
    facts = facts_of().values()
    made = admin.post(at(panel.study, "api_practice_examples"), facts, format="json")
    assert made.status_code == 201, made.content
    example_id = made.json()["id"]
    one = at(panel.study, "api_practice_example", example_id=example_id)
    told = got(panel.ana, at(panel.study, "api_practice"))
    assert (told["is_due"], told["ending"]) == (True, "")
    assert (told["examples"][0]["answer"], told["examples"][0]["guidelines"]) == (None, None)
    answers = at(panel.study, "api_practice_answers")
    given = {"example": example_id, "choice": "agree", "points": 9}
    answered = ana.post(answers, given, format="json")
    assert answered.status_code == 201, answered.content
    assert answered.json()["answer"]["is_same"] is False
    assert answered.json()["guidelines"]["feedback"] == "It is **one claim**."
    assert got(panel.ana, at(panel.study, "api_practice"))["ending"] == "finished"
    assert ana.post(answers, {"example": example_id, "choice": "agree"}, format="json").status_code == 409
    assert ana.post(answers, {**given, "example": str(panel.study.id)}, format="json").status_code == 404
    assert ana.post(at(panel.study, "api_practice_again")).status_code == 204
    assert got(panel.ana, at(panel.study, "api_practice"))["examples"][0]["answer"] is None
    assert ana.post(at(panel.study, "api_practice_skip")).status_code == 204
    changed = admin.put(one, facts | {"points_low": 6, "seen": 1}, format="json")
    assert (changed.status_code, changed.json()["edition"]) == (200, 2)
    assert admin.put(one, facts | {"seen": 1}, format="json").status_code == 409
    assert admin.put(one, facts | {"points_low": 9, "seen": 2}, format="json").status_code == 409
    assert got(panel.adam, one)["points_low"] == 6
    move = at(panel.study, "api_practice_example_move", example_id=example_id)
    assert admin.post(move, {"to": "later"}, format="json").status_code == 204
    assert admin.delete(one).status_code == 204
    assert got(panel.adam, at(panel.study, "api_practice_examples")) == []
    assert admin.delete(one).status_code == 404
    for address in (at(panel.study, "api_practice_examples"), one):
        assert ana.get(address).status_code == 403
    assert admin.get(at(panel.study, "api_practice")).status_code == 403
    assert api(panel.oscar).get(at(panel.study, "api_practice")).status_code == 404


# The demo


def test_the_demo_has_three_examples_that_say_they_are_invented() -> None:
    study = load_demo()
    examples = list(PracticeExample.objects.standing().filter(study=study))
    assert [this.choice for this in examples] == ["agree", "agree", "object"]
    assert all("invented for the practice" in this.feedback for this in examples)
    begun = User.objects.get(email="abena.mensah@example.org")
    assert not practice_of(study, begun).is_due, "she has voted already: Continue leads to a conversation"
    assert practice_of(study, join(study=study, name="fern")).is_due


# Two at once


@pytest.mark.django_db(transaction=True)
def test_two_answers_at_once_to_the_last_two_examples_finish_the_practice(panel: Panel) -> None:
    examples = [example_of(panel.study), example_of(panel.study, criterion="Asks why.")]
    met = at_once(*(partial(answer_example, example=this, by=panel.ana, choice="abstain") for this in examples))
    assert all(isinstance(this, PracticeAnswer) for this in met)
    assert part_of(panel.ana) == "finished"


@pytest.mark.django_db(transaction=True)
def test_of_two_that_continue_at_once_one_is_led_to_the_practice(panel: Panel) -> None:
    example_of(panel.study)
    led = at_once(*[partial(lead_to_practice, study=panel.study, person=panel.ana)] * 2)
    assert sorted(led) == [False, True]


@pytest.mark.django_db(transaction=True)
def test_two_that_change_an_example_at_once_never_overwrite_each_other(panel: Panel) -> None:
    example = example_of(panel.study)
    wordings = [facts_of(criterion=f"Says {number}.") for number in range(2)]
    met = at_once(*(partial(change_example, example=example, seen=1, facts=this, by=None) for this in wordings))
    assert sorted(type(this).__name__ for this in met) == ["ExampleChanged", "PracticeExample"]


@pytest.mark.django_db(transaction=True)
def test_two_examples_written_at_once_have_two_places(panel: Panel) -> None:
    at_once(*(partial(example_of, panel.study, criterion=f"Says {number}.") for number in range(2)))
    assert sorted(PracticeExample.objects.values_list("position", flat=True)) == [1, 2]


def test_drafting_is_beginning(panel: Panel) -> None:
    conversation = make_conversation(study=panel.study)
    assign_reviewer(conversation=conversation, reviewer=panel.ana)
    draft(conversation=conversation, writer=panel.ana)
    example_of(panel.study)
    assert not practice_of(panel.study, panel.ana).is_due
