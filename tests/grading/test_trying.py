"""Trying a grader before a run: one call about a built-in case, and what its answer says; nothing of a study goes."""

import pytest
from django.test import Client

from grading.models import Attempt
from grading.trying import CRITERION, RESPONSE, try_grader
from tests.factories import make_panel, make_study
from tests.grading.endpoint import Answer, Asked, Endpoint, verdict_as_reply
from tests.grading.making import make_grader, make_set

pytestmark = pytest.mark.django_db
MET = verdict_as_reply("met")


@pytest.mark.parametrize(
    ("answer", "is_usable", "words"),
    [
        (Answer(content=MET), True, "It answers: met, as it should be here."),
        (Answer(content=verdict_as_reply("not_met")), True, "It answers: not met."),
        (Answer(content="Well, it depends."), False, "It answers, without a verdict: "),
        (Answer(raw=b"Hello"), False, "no chat completion"),
        (Answer(status=401, error={"message": "Incorrect key"}), False, "refuses the key (401)"),
    ],
)
def test_what_an_answer_says(answer: Answer, is_usable: bool, words: str) -> None:
    with Endpoint(script=lambda asked: answer) as endpoint:
        tried = try_grader(make_grader(study=make_study(), url=endpoint.url))
    assert tried.is_usable is is_usable
    assert words in tried.sentence
    assert endpoint.calls == 1
    if is_usable:
        assert tried.model
        assert tried.usage is not None
        assert tried.usage.prompt_tokens


def test_one_that_takes_no_schema_is_asked_in_plain_text() -> None:
    def script(asked: Asked) -> Answer | None:
        error = {"message": "response_format is not supported by this model"}
        return Answer(status=400, error=error) if "response_format" in asked.body else Answer(content=MET)

    with Endpoint(script=script) as endpoint:
        tried = try_grader(make_grader(study=make_study(), url=endpoint.url))
    assert tried.is_usable
    assert "no schema" in tried.sentence


def test_one_that_cant_be_reached_and_one_without_its_key_say_so() -> None:
    study = make_study()
    assert "can't be reached" in try_grader(make_grader(study=study, url="http://127.0.0.1:9/v1")).sentence
    keyed = make_grader(study=study, url="http://127.0.0.1:9/v1", name="keyed", api_key_variable="NOT_SET_HERE")
    assert "NOT_SET_HERE isn't set here" in try_grader(keyed, environment={}).sentence


def test_the_page_tries_it_for_a_researcher_and_sends_nothing_of_the_study() -> None:
    panel = make_panel()
    made = make_set(conversations=1)
    with Endpoint(script=lambda asked: Answer(content=MET)) as endpoint:
        grader = make_grader(study=panel.study, url=endpoint.url)
        address = f"/studies/{panel.study.slug}/graders/{grader.id}/try/"
        client = Client()
        client.force_login(panel.rita)
        assert (
            f'action="{address}#tried-{grader.id}"'
            in client.get(f"/studies/{panel.study.slug}/graders/").content.decode()
        )
        whole = client.post(address).content.decode()
        part = client.post(address, headers={"HX-Request": "true"}).content.decode()
        assert client.get(address).status_code == 302
        client.force_login(panel.adam)
        assert client.post(address).status_code == 403
        client.force_login(panel.oscar)
        assert client.post(address).status_code == 404
    for page in (whole, part):
        assert "It answers: met, as it should be here." in page
    assert "<html" not in part
    assert {(asked.criterion, asked.response) for asked in endpoint.asked} == {(CRITERION, RESPONSE)}
    assert all(text not in asked.prompt for asked in endpoint.asked for text in (made.responses[0].text,))
    assert not Attempt.objects.exists()
