"""The pages of judging by hand: what waits, leaving one for later, undo, what stands once grades were opened."""

import pytest
from django.test import Client

from annotation.models import Study, User
from grading.judging import open_grades
from grading.models import ReviewerVerdict
from tests.grading.graded_runs import Graded, judge, make_graded

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def graded() -> Graded:
    return make_graded()


def client_of(person: User) -> Client:
    client = Client()
    client.force_login(person)
    return client


def study_of(graded: Graded) -> str:
    return f"/studies/{graded.panel.study.slug}/"


def test_the_list_says_what_is_judged_and_leads_back_to_each_response(graded: Graded) -> None:
    ben = graded.panel.ben
    judge(graded=graded, reviewer=ben, verdicts="mmn---")
    page = client_of(ben).get(f"{study_of(graded)}judging/").content.decode()
    assert "3 of 6 pairs" in page
    assert page.count("✓ judged") == 1
    assert page.count(">waiting<") == 1
    for response in graded.responses:
        assert f"{study_of(graded)}judging/1/{response.id}/" in page
    for hidden in ("model-a", "model-b", "Because it does."):
        assert hidden not in page


def test_the_list_takes_as_many_queries_for_many_responses(
    graded: Graded, django_assert_max_num_queries: object
) -> None:
    client = client_of(graded.panel.ben)
    with django_assert_max_num_queries(30):  # type: ignore[operator]
        client.get(f"{study_of(graded)}judging/")


def test_a_response_is_left_for_later(graded: Graded) -> None:
    client = client_of(graded.panel.ben)
    first = client.get(f"{study_of(graded)}judging/1/").headers["Location"]
    page = client.get(first).content.decode()
    later = f"{study_of(graded)}judging/1/?after={first.split('/')[-2]}"
    assert later in page
    second = client.get(later).headers["Location"]
    assert second != first
    assert client.get(f"{study_of(graded)}judging/1/?after={second.split('/')[-2]}").headers["Location"] == first
    assert client.get(f"{study_of(graded)}judging/1/?after=nonsense").headers["Location"] == first


def test_the_last_verdict_is_undone_by_plain_form_and_by_htmx(graded: Graded) -> None:
    client = client_of(graded.panel.ben)
    criterion = graded.criteria[0]
    address = f"{study_of(graded)}judging/1/{graded.responses[0].id}/"
    for headers in ({}, HTMX):
        client.post(address, {"criterion": criterion.id, "verdict": "met"})
        page = client.get(address).content.decode()
        assert f'action="{address}undo/"' in page
        assert 'data-key="z"' in page
        undone = client.post(f"{address}undo/", {"criterion": criterion.id}, headers=headers)
        if headers:
            assert undone.content.decode().lstrip().startswith('<div id="judging"')
        else:
            assert undone.headers["Location"] == f"{address}?criterion={criterion.id}#work"
        assert not ReviewerVerdict.objects.exists()
    assert f'action="{address}undo/"' not in client.get(address).content.decode()
    assert client.get(f"{address}undo/").status_code == 302
    assert client.post(f"{address}undo/").status_code == 404


def test_what_was_judged_blind_stands_and_the_page_says_so(graded: Graded) -> None:
    ben, criterion = graded.panel.ben, graded.criteria[0]
    judge(graded=graded, reviewer=ben, verdicts="m-----")
    open_grades(run=graded.run, by=ben)
    client = client_of(ben)
    address = f"{study_of(graded)}judging/1/{graded.responses[0].id}/"
    page = client.get(f"{address}?criterion={criterion.id}").content.decode()
    assert "You judged this blind" in page
    assert 'name="verdict"' not in page
    assert "/undo/" not in page
    for headers in ({}, HTMX):
        refused = client.post(address, {"criterion": criterion.id, "verdict": "not_met"}, headers=headers)
        assert refused.status_code == 409
        assert "your blind verdict stands" in refused.content.decode()
    assert client.post(f"{address}undo/", {"criterion": criterion.id}).status_code == 409
    assert ReviewerVerdict.objects.get().is_blind


def test_what_to_expect_and_one_pause_that_leads_back_are_beside_the_texts(graded: Graded) -> None:
    Study.objects.filter(pk=graded.panel.study.pk).update(
        what_to_expect="People in distress.", support_contact="Call 555."
    )
    client = client_of(graded.panel.ben)
    address = f"{study_of(graded)}judging/1/{graded.responses[0].id}/"
    page = client.get(address).content.decode()
    assert "People in distress." in page
    assert "Call 555." in page
    assert page.count(">Pause<") == 1
    pause = f"{study_of(graded)}pause/?from={address}"
    assert pause in page
    assert f'href="{address}">Back to where I was' in client.get(pause).content.decode()
    for elsewhere in ("https://example.org/", "//example.org/", "/studies/other/", "/"):
        told = client.get(f"{study_of(graded)}pause/", {"from": elsewhere}).content.decode()
        assert "Back to where I was" not in told


def test_the_studys_page_and_my_studies_tell_a_clinician_what_waits(graded: Graded) -> None:
    panel = graded.panel
    asked = f"{study_of(graded)}waiting-to-judge/"
    client = client_of(panel.ben)
    for page in ("/", study_of(graded)):
        assert f'hx-get="{asked}"' in client.get(page, follow=True).content.decode()
    assert "2 responses wait for your judgement" in client.get(asked, headers=HTMX).content.decode()
    assert client.get(asked).headers["Location"] == f"{study_of(graded)}judging/"
    judge(graded=graded, reviewer=panel.ben, verdicts="mmm---")
    assert "1 response waits for your judgement" in client.get(asked, headers=HTMX).content.decode()
    judge(graded=graded, reviewer=panel.ben, verdicts="---mmm")
    assert client.get(asked, headers=HTMX).status_code == 204
    assert client_of(panel.rita).get(asked, headers=HTMX).status_code == 204
    assert client_of(panel.oscar).get(asked, headers=HTMX).status_code == 404


def test_nothing_is_told_before_the_consent_text_is_accepted(graded: Graded) -> None:
    Study.objects.filter(pk=graded.panel.study.pk).update(consent_text="We ask you this.", consent_version=1)
    asked = f"{study_of(graded)}waiting-to-judge/"
    assert client_of(graded.panel.ben).get(asked, headers=HTMX).status_code == 204
