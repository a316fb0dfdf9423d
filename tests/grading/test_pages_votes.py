"""Who may read the agreement on votes, as page, API and command, and what it says."""

import json
import re
from html import unescape
from io import StringIO

import pytest
from django.core.management import call_command

from annotation.models import DEFAULT_AXES, Study, User
from grading.terminal_tables import WIDTH, columns_of
from grading.vote_words import percent, with_sign
from tests.factories import Panel, make_panel, make_voting, vote
from tests.grading.voted_criteria import names_of, vote_all
from tests.pages import api, at, got, queries_of, shown, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return make_panel()


def read(person: User, study: Study, name: str) -> str:
    """A page as its words."""
    main = shown(signed_in(person), at(study, name)).split("<main", 1)[1]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())


def vote_on_many(panel: Panel, *, criteria: int = 12) -> None:
    """Twelve criteria on which six agree, but for one who objects to the first."""
    names = names_of(panel)
    for number in range(criteria):
        choices = dict.fromkeys(names, "agree") | ({names[0]: "object"} if not number else {})
        vote_all(panel, choices, external_id=f"many-{number}", axis=DEFAULT_AXES[0])


def say(study: Study, *words: str) -> str:
    out = StringIO()
    call_command("vote_agreement", study.slug, *words, stdout=out)
    return out.getvalue()


def test_each_page_is_for_its_readers(panel: Panel) -> None:
    may = {
        "vote_agreement": {panel.adam, panel.rita},
        "own_votes": {panel.ana, panel.ben},
    }
    for name, readers in may.items():
        for person in (panel.adam, panel.rita, panel.ana, panel.ben):
            expected = 200 if person in readers else 403
            assert signed_in(person).get(at(panel.study, name)).status_code == expected, (name, person)
            assert api(person).get(at(panel.study, f"api_{name}")).status_code == expected, (name, person)
        assert signed_in(panel.oscar).get(at(panel.study, name)).status_code == 404
        assert api(panel.oscar).get(at(panel.study, f"api_{name}")).status_code == 404


def test_nothing_voted_and_too_few_people_are_said(panel: Panel) -> None:
    assert "No round is revealed yet in which somebody voted." in read(panel.adam, panel.study, "vote_agreement")
    assert "once a round in which you voted is revealed" in read(panel.ben, panel.study, "own_votes")
    vote_all(panel, {"ben": "agree", "chloe": "object", "dev": "agree"}, external_id="few")
    for words in (read(panel.rita, panel.study, "vote_agreement"), say(panel.study)):
        assert "Fewer than 5 people have votes that counted." in " ".join(words.split())
        assert "Both agree" not in words
    answer = got(panel.adam, at(panel.study, "api_vote_agreement"))
    assert (answer["first"], answer["by_axis"], answer["by_category"]) == (
        None,
        {"first": {}, "last": {}},
        {"first": {}, "last": {}},
    )
    assert json.loads(say(panel.study, "--json")) == answer


def test_page_api_and_command_say_why_alpha_is_near_zero(panel: Panel) -> None:
    vote_on_many(panel)
    sentence = (
        "Alpha is 0.000 although two votes on one criterion are the same in 97.2% of pairs: 98.6% of all votes agree"
    )
    first = (
        "where one clinician agrees, another agrees too in 98.6% of pairs; where one objects, another objects too in 0%"
    )
    words = read(panel.adam, panel.study, "vote_agreement")
    answer = got(panel.adam, at(panel.study, "api_vote_agreement"))
    for said in (words, " ".join(say(panel.study).split()), " ".join(answer["sentences"])):
        assert sentence in said
        assert first in said
    assert "71 of 72 votes of the first rounds say what most of the others say" in words
    assert "Ambiguous 1 1" in words
    assert max(map(columns_of, say(panel.study).splitlines())) <= WIDTH
    assert (answer["first"]["people"], answer["first"]["agreed"], answer["first"]["object"]) == (6, 71, 0)
    assert list(answer["by_axis"]["first"]) == [DEFAULT_AXES[0]]
    assert all(name.title() not in words for name in names_of(panel)), "nobody is named"


def test_the_same_votes_everywhere_have_no_alpha_and_no_nan(panel: Panel) -> None:
    for number in range(10):
        vote_all(panel, dict.fromkeys(names_of(panel), "agree"), external_id=f"same-{number}")
    words = read(panel.adam, panel.study, "vote_agreement")
    assert "All 60 votes are the same. Alpha has no value then" in words
    assert "a Nobody voted so." in words
    assert "nan" not in words.lower().split()
    figures = got(panel.adam, at(panel.study, "api_vote_agreement"))["first"]
    assert (figures["alpha"], figures["object"]) == (None, None)
    assert figures["undefined"] == {"object": "class_absent", "alpha": "single_class"}


def test_an_open_round_changes_a_count_and_nothing_else(panel: Panel) -> None:
    vote_on_many(panel, criteria=2)
    quiet = read(panel.adam, panel.study, "vote_agreement")
    assert "open round" not in quiet
    _, [criterion], _ = make_voting(panel=panel)
    opened = read(panel.adam, panel.study, "vote_agreement")
    assert "1 conversation still has an open round, which is left out here." in opened
    assert opened.replace("1 conversation still has an open round, which is left out here. ", "") == quiet
    for reviewer in panel.reviewers[:3]:
        vote(criterion=criterion, reviewer=reviewer, choice="object", category="unsafe")
    assert read(panel.adam, panel.study, "vote_agreement") == opened
    assert read(panel.chloe, panel.study, "own_votes").count("1 conversation still has") == 1
    assert "open_conversations" in say(panel.study, "--json")


def test_a_clinician_reads_the_own_votes_alone(panel: Panel) -> None:
    vote_on_many(panel)
    ben, chloe = read(panel.ben, panel.study, "own_votes"), read(panel.chloe, panel.study, "own_votes")
    assert "First round, before discussion 12 91.7% 11 of 12 91.7% 11 of 12 undefined a 0.0 over 11" in ben
    assert "First round, before discussion 12 100% 12 of 12 100% 12 of 12 undefined a 0.0 over 12" in chloe
    answer = got(panel.ben, at(panel.study, "api_own_votes"))
    assert (answer["first"]["agreed_too"], answer["first"]["where_others_objected"]) == (11, None)
    assert answer["first"]["undefined"] == {"where_others_objected": "no_pairs"}


def test_the_pages_take_as_many_queries_however_much_there_is(panel: Panel) -> None:
    urls = {panel.adam: at(panel.study, "vote_agreement"), panel.ben: at(panel.study, "own_votes")}
    vote_on_many(panel, criteria=1)
    few = [queries_of(signed_in(person), url) for person, url in urls.items()]
    for number in range(3):
        vote_all(
            panel, dict.fromkeys(names_of(panel), "object"), external_id=f"more-{number}", axis=DEFAULT_AXES[number]
        )
    assert [queries_of(signed_in(person), url) for person, url in urls.items()] == few


def test_the_pages_are_linked_where_their_readers_are(panel: Panel) -> None:
    make_voting(panel=panel)
    of_all, own = at(panel.study, "vote_agreement"), at(panel.study, "own_votes")
    assert of_all in shown(signed_in(panel.adam), at(panel.study, "study_progress"))
    for person in (panel.adam, panel.rita):
        page = shown(signed_in(person), at(panel.study, "study"))
        assert f'href="{of_all}"' in page
        assert f'href="{own}"' not in page
    page = shown(signed_in(panel.ben), at(panel.study, "study"))
    assert f'href="{own}"' in page
    assert f'href="{of_all}"' not in page


def test_percent_and_sign_never_round_to_all_or_nothing() -> None:
    assert [percent(share) for share in (1, 0, 0.9996, 0.0004, 0.9746, 0.5)] == [
        "100%",
        "0%",
        "more than 99.9%",
        "less than 0.1%",
        "97.5%",
        "50%",
    ]
    assert [with_sign(number) for number in (0.44, -0.44, 0.04, -0.04)] == ["+0.4", "\N{MINUS SIGN}0.4", "0.0", "0.0"]
