"""Templates: each one parses and is formatted, pages speak plainly, and texts are shown as they were written."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django import forms
from django.core.paginator import Paginator
from django.template import engines
from django.template.loader import get_template, render_to_string
from django.test import RequestFactory

from consilium.plain_forms import PlainForm

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / app / "templates" for app in ("consilium", "annotation", "rubrics", "grading")]
TEMPLATES = sorted((path, path.relative_to(folder).as_posix()) for folder in FOLDERS for path in folder.rglob("*.html"))


def names(pair: object) -> str:
    return pair if isinstance(pair, str) else ""


@pytest.mark.parametrize(("path", "name"), TEMPLATES, ids=names)
def test_every_template_parses(path: Path, name: str) -> None:
    found = get_template(name)
    assert Path(str(found.origin.name)) == path, "another template of this name comes first"  # type: ignore[attr-defined]


def test_every_template_is_formatted() -> None:
    djade = Path(sys.executable).with_name("djade")
    done = subprocess.run(
        [djade, "--check", "--target-version", "5.2", *(path for path, _ in TEMPLATES)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_page_speaks_like_a_machine() -> None:
    machine = re.compile(r"\b(Error|Invalid|Success|Oops|Submit)\b")
    spoken = [
        (name, match[0])
        for path, name in TEMPLATES
        if (match := machine.search(re.sub(r"{%.*?%}|{{.*?}}|{#.*?#}|<[^>]*>", "", path.read_text(), flags=re.DOTALL)))
    ]
    assert spoken == []


def test_a_fragment_is_named_with_an_underscore_and_extends_nothing() -> None:
    for path, name in TEMPLATES:
        if path.name.startswith("_"):
            assert "{% extends" not in path.read_text(), name


def turns(messages: list[dict[str, str]], **context: Any) -> str:
    return render_to_string("_turns.html", {"messages": messages, "cited": set(), **context})


def test_a_turn_is_numbered_escaped_and_turned_by_its_own_script() -> None:
    html = turns(
        [{"role": "user", "content": "<b>مرحبا</b>\n& more"}, {"role": "assistant", "content": "Hello"}],
        user_profile="teen",
        language="ar",
        cited={2},
    )
    assert 'id="turn-1"' in html
    assert 'id="turn-2"' in html
    assert 'dir="auto" lang="ar"' in html
    assert "&lt;b&gt;مرحبا&lt;/b&gt;\n&amp; more</div>" in html
    assert html.index("Teenager") < html.index("مرحبا") < html.index("Assistant")
    assert html.count("cited</span>") == 1
    assert html.index("cited</span>") > html.index("Assistant")


def test_two_conversations_of_one_page_have_no_id_in_common() -> None:
    said = [{"role": "user", "content": "Hi"}]
    found = re.findall(r'id="([^"]+)"', turns(said) + turns(said, ids="answer"))
    assert found == ["turn-1", "answer-1"]


def test_an_empty_message_is_said_to_be_empty() -> None:
    assert "(nothing was written)" in turns([{"role": "assistant", "content": ""}])


def test_an_unknown_writer_is_a_person_and_never_a_guess() -> None:
    html = turns([{"role": "user", "content": "Hi"}], user_profile=None)
    assert "Person" in html
    assert "Adult" not in html


def facts(**known: Any) -> str:
    unknown = {"acuity": None, "user_profile": None, "language": None, "country": None, "has_prior_context": None}
    return render_to_string("_facts.html", {"conversation": SimpleNamespace(**{**unknown, **known})})


def test_what_is_not_known_of_a_conversation_is_said() -> None:
    html = facts()
    for words in ("Acuity not known", "Writer not known", "Language not known", "Not known if there were"):
        assert words in html


def test_a_country_is_named() -> None:
    assert "<span>South Africa</span>" in facts(country="ZA")


def test_acuity_is_a_word_beside_its_mark() -> None:
    html = facts(acuity="high_acuity", get_acuity_display="High acuity", has_prior_context=False)
    assert re.search(r'<span aria-hidden="true">▲</span> High acuity', html)
    assert "No earlier sessions" in html


class Questions(PlainForm):
    name = forms.CharField(label="Name", help_text="As others see it.")
    points = forms.IntegerField(min_value=-10, max_value=10)
    email = forms.EmailField()
    kind = forms.ChoiceField(choices=[("a", "A")], widget=forms.RadioSelect)
    note = forms.CharField(required=False, max_length=3)
    own = forms.CharField(error_messages={"required": "Say who you are."})


def field_html(form: forms.Form, name: str) -> str:
    return render_to_string("_field.html", {"field": form[name]})


def test_what_is_wrong_stands_beside_its_field_and_is_tied_to_it() -> None:
    form = Questions({"name": "", "points": "20", "email": "x", "kind": "z", "note": "abcd", "own": ""})
    assert not form.is_valid()
    html = field_html(form, "name")
    assert 'aria-describedby="id_name_helptext id_name_error"' in html
    assert '<p class="field-error" id="id_name_error">Please fill this in.</p>' in html
    assert 'aria-invalid="true"' in html
    assert form.errors == {
        "name": ["Please fill this in."],
        "points": ["This is at most 10."],
        "email": ["This doesn't read as an e-mail address."],
        "kind": ["This is not one of the choices. Please choose again."],
        "note": ["This has at most 3 characters; yours has 4."],
        "own": ["Say who you are."],
    }
    assert 'aria-describedby="id_kind_error"' in field_html(form, "kind")


def test_a_field_that_may_stay_empty_says_so() -> None:
    assert "(if you like)" in field_html(Questions(), "note")
    assert "(if you like)" not in field_html(Questions(), "name")


def test_pages_of_a_list_keep_its_filters() -> None:
    request = RequestFactory().get("/list", {"state": "voting", "page": "2"})
    page = Paginator(range(50), 20).page(2)
    html = render_to_string("_pagination.html", {"page": page, "what": "criteria", "request": request}, request)
    assert "21 to 40 of 50 criteria" in html
    assert 'href="?state=voting&amp;page=1"' in html
    assert 'href="?state=voting&amp;page=3"' in html


def test_a_list_of_one_page_has_no_pages() -> None:
    page = Paginator(range(5), 20).page(1)
    assert render_to_string("_pagination.html", {"page": page, "what": "criteria"}).strip() == ""


@pytest.mark.parametrize("name", ["400.html", "403.html", "404.html", "500.html", "429.html"])
def test_pages_for_what_goes_wrong_need_no_request(name: str) -> None:
    """Django renders some of them with no context at all."""
    html = engines["django"].get_template(name).render({}, None)
    assert '<html lang="en" dir="ltr">' in html
    assert "<h1>" in html


def test_the_sentence_of_a_missing_page_is_shown_but_not_a_programmer_s() -> None:
    assert "There is no such study" in render_to_string("404.html", {"exception": "There is no such study."})
    assert "matches" not in render_to_string("404.html", {"exception": "No Study matches the given query."})


def test_what_a_person_wrote_is_escaped_in_a_refusal() -> None:
    assert "&lt;script&gt;" in render_to_string("_refusal.html", {"sentence": '"<script>" is not an address.'})
