"""Every sentence of the pages is there in every language, and no sentence of a template stands outside of them."""

import ast
import re
from html.parser import HTMLParser
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from django.conf import settings
from django.test import Client, override_settings

from tests import catalogues
from tests.catalogues import APPS, LANGUAGES, ROOT, Message, compiled, file_of, is_translated, read
from tests.factories import make_panel
from tests.pages import signed_in

NOT_YET = ROOT / "tests" / "not_yet_translated.txt"
"""Files with words that the catalogues don't have yet: the list only grows shorter."""
NO_WORDS = {
    "Consilium",
    "Esc",
    "htmx",
    "Enter",
    "Ctrl",
    "CSV",
    "XLSX",
    "JSON",
    "API",
    "SHA",
    "DOI",
    "ORCID",
    "HealthBench",
}
SPOKEN = {"alt", "aria-label", "aria-description", "aria-roledescription", "placeholder", "title", "label"}


def not_yet() -> set[str]:
    return set(NOT_YET.read_text().split()) if NOT_YET.exists() else set()


@pytest.fixture(scope="module")
def said() -> dict[str, dict[Message, list[str]]]:
    return {app: catalogues.collect(app) for app in APPS}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_is_translated(said: dict[str, Any], language: str) -> None:
    missing = []
    for app in APPS:
        catalogue = read(app, language)
        missing += [
            f"{message.singular[:80]!r} ({places[0]})"
            for message, places in said[app].items()
            if not is_translated(catalogue, message) and not set(places) <= not_yet()
        ]
    assert not missing, f"{len(missing)} sentences; first " + "\n".join(missing[:20])


def _places(text: str | None) -> set[str]:
    """What stands for a value in a sentence: %(name)s, {name}."""
    text = text or ""
    percent = set(re.findall(r"%\((\w+)\)[sd]|%[sd]", text))
    try:
        braces = {name for _, name, _, _ in Formatter().parse(text) if name}
    except ValueError:
        braces = set()
    return percent | braces


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_names_the_same_values(said: dict[str, Any], language: str) -> None:
    wrong = []
    for app in APPS:
        catalogue = read(app, language)
        for message in said[app]:
            entry = catalogue.get(message.key, context=message.context or None)
            if entry is None or not is_translated(catalogue, message):
                continue
            forms = entry.string if isinstance(entry.string, tuple | list) else [entry.string]
            known = _places(message.singular) | _places(message.plural)
            needed = _places(message.plural or message.singular)
            # one, two and none may say the number in a word
            if any(_places(form) - known for form in forms) or needed - _places(forms[-1]):
                wrong.append(f"{message.singular[:70]!r}: {forms}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("app", APPS)
def test_what_django_reads_is_what_was_written(app: str, language: str) -> None:
    """After a change of a .po: python -m tests.catalogues."""
    if file_of(app, language).exists():
        assert file_of(app, language, "mo").read_bytes() == compiled(file_of(app, language))


class _Words(HTMLParser):
    """The words of a page that are in no tag of Django's."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "style", "code", "kbd"}:
            self._silent += 1
        for name, value in attrs:
            if name in SPOKEN and value:
                self._take(value)

    def handle_endtag(self, tag: str) -> None:
        if tag in {"script", "style", "code", "kbd"}:
            self._silent -= 1

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._take(data)

    def _take(self, text: str) -> None:
        words = [word for word in re.findall(r"[^\W\d_]{2,}", text) if word not in NO_WORDS]
        if words:
            self.found.append(" ".join(text.split()))


def bare_words(source: str) -> list[str]:
    """What a template says outside of {% translate %} and {% blocktranslate %}."""
    source = re.sub(r"\{% comment %\}.*?\{% endcomment %\}|\{#.*?#\}", "", source, flags=re.DOTALL)
    source = re.sub(r"\{% blocktrans(?:late)?\b.*?\{% endblocktrans(?:late)? %\}", "", source, flags=re.DOTALL)
    in_tags = re.findall(r"\{%\s*include\b.*?%\}|\|\s*(?:default|yesno|pluralize)\s*:\s*\"[^\"]*\"", source)
    words = _Words()
    words.feed(re.sub(r"\{%.*?%\}|\{\{.*?\}\}", "", source, flags=re.DOTALL))
    for tag in in_tags:
        for name, text in re.findall(r"(\w*)[=:]\"([^\"]*)\"", tag):
            if " " in text.strip() or (name == "pluralize" and text.strip(", ")):
                words.found.append(text)
    return words.found


def templates() -> list[Path]:
    return [
        path
        for app in APPS
        for suffix in ("*.html", "*.txt")
        for path in sorted((ROOT / app).rglob(suffix))
        if "templates" in path.parts and "drf_spectacular" not in path.parts
    ]


def test_no_template_says_anything_outside_of_the_catalogues() -> None:
    bare = {path.relative_to(ROOT).as_posix(): bare_words(path.read_text()) for path in templates()}
    speaking = {name for name, words in bare.items() if words}
    assert not speaking - not_yet(), {name: bare[name][:5] for name in sorted(speaking - not_yet())}


def test_the_list_of_what_is_not_translated_yet_holds_nothing_else(said: dict[str, Any]) -> None:
    speaking = {path.relative_to(ROOT).as_posix() for path in templates() if bare_words(path.read_text())}
    speaking |= {path.relative_to(ROOT).as_posix() for path in python_files() if bare_sentences(path.read_text())}
    for app in APPS:
        catalogues_of_app = [read(app, language) for language in LANGUAGES]
        for message, places in said[app].items():
            if not all(is_translated(catalogue, message) for catalogue in catalogues_of_app):
                speaking |= set(places)
    assert not not_yet() - speaking, "These may go from the list: " + " ".join(sorted(not_yet() - speaking))


FOR_READERS = {"label", "help_text", "empty_label", "violation_error_message", "page_title"}
TOLD = {"success", "info", "warning", "error", "ValidationError"}


def bare_sentences(source: str) -> list[str]:
    """What Python says to readers without gettext: labels and helps of forms, messages, errors, words of choices."""
    tree = ast.parse(source)
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            owner = getattr(getattr(node.func, "value", None), "id", "")
            if name == "ValidationError" or (name in TOLD and owner == "messages"):
                found += [_words_of(part) for part in node.args]
            if owner != "models" and name not in {"add_argument", "OpenApiParameter", "ArrayField"}:
                found += [_words_of(part.value) for part in node.keywords if part.arg in FOR_READERS]
        if isinstance(node, ast.ClassDef) and any("TextChoices" in ast.unparse(base) for base in node.bases):
            values = [part.value for part in node.body if isinstance(part, ast.Assign)]
            found += [_words_of(value.elts[1]) for value in values if isinstance(value, ast.Tuple)]
    return [words for words in found if re.search(r"[^\W\d_]{2,}", words)]


def _words_of(node: ast.expr) -> str:
    """The words of a constant or an f-string; none of a call, which is gettext's or somebody else's to answer for."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    return ""


def python_files() -> list[Path]:
    return [
        path
        for app in APPS
        for path in sorted((ROOT / app).rglob("*.py"))
        if "migrations" not in path.parts and "commands" not in path.parts and "running" not in path.parts
    ]


def test_no_form_message_or_choice_speaks_outside_of_the_catalogues() -> None:
    bare = {path.relative_to(ROOT).as_posix(): bare_sentences(path.read_text()) for path in python_files()}
    speaking = {name for name, words in bare.items() if words}
    assert not speaking - not_yet(), {name: bare[name][:5] for name in sorted(speaking - not_yet())}


def test_sentences_outside_of_the_catalogues_are_found() -> None:
    assert bare_sentences('forms.CharField(label="Name")') == ["Name"]
    assert bare_sentences('forms.CharField(label=_("Name"))') == []
    assert bare_sentences('messages.success(request, f"{name} is in.")') == [" is in."]
    assert bare_sentences('class A(models.TextChoices):\n    ONE = "one", "the one"') == ["the one"]
    assert bare_sentences('models.CharField(help_text="For programmers.")') == []


def test_words_outside_of_the_catalogues_are_found() -> None:
    assert bare_words('{% translate "Save" %} <p title="{% translate "x" %}">{{ name }}, 12</p>') == []
    assert bare_words("{% blocktranslate %}Save it{% endblocktranslate %} <kbd>Ctrl</kbd>") == []
    assert bare_words("<p>Save</p>") == ["Save"]
    assert bare_words('<p aria-label="Save it">{{ name }}</p>') == ["Save it"]
    assert bare_words('{{ n }} {{ n|pluralize:"on,a" }}') == ["on,a"]
    assert bare_words('{% include "a.html" with sentence="Save it now" %}') == ["Save it now"]


ALL = [("en", "English"), ("es", "Español"), ("ar", "العربية")]


def test_a_language_is_offered_once_its_catalogues_are_whole() -> None:
    assert (ALL[:1] if not_yet() else ALL) == settings.LANGUAGES


@override_settings(LANGUAGES=ALL)
@pytest.mark.django_db
@pytest.mark.parametrize(("language", "direction"), [("en", "ltr"), ("es", "ltr"), ("ar", "rtl")])
def test_a_page_speaks_the_readers_language(language: str, direction: str) -> None:
    panel = make_panel()
    page = signed_in(panel.ben).get("/", headers={"Accept-Language": language})
    assert page.headers["Content-Language"] == language
    body = page.content.decode()
    assert f'<html lang="{language}" dir="{direction}">' in body


@override_settings(LANGUAGES=ALL)
@pytest.mark.django_db
def test_before_the_sign_in_the_browsers_language_is_spoken_and_the_api_speaks_english() -> None:
    page = Client().get("/accounts/login/code/", follow=True, headers={"Accept-Language": "ar,en;q=0.5"})
    assert '<html lang="ar" dir="rtl">' in page.content.decode()
    assert "Accept-Language" in page.headers["Vary"]
    answer = Client().get("/api/v1/studies/", headers={"Accept-Language": "ar"})
    assert answer.headers["Content-Language"] == settings.LANGUAGE_CODE
