"""House rules that hold over the whole project, checked over what exists and not over a list."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.db.models import CheckConstraint, UniqueConstraint
from django.urls import URLPattern, URLResolver, get_resolver

ROOT = Path(__file__).resolve().parent.parent
OURS = ("consilium", "annotation", "rubrics", "grading")
SOURCES = [
    path
    for app in OURS
    for path in sorted((ROOT / app).rglob("*.py"))
    if "migrations" not in path.relative_to(ROOT).parts
]
TEMPLATES = sorted(path for app in OURS for path in (ROOT / app).rglob("*.html"))


def patterns(resolver: URLResolver | None = None) -> Iterator[URLPattern]:
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            yield from patterns(entry)
        else:
            yield entry


def test_every_address_says_who_may_use_it() -> None:
    """A page carries a decision decorator, an API view its permissions; nothing is open by oversight."""
    undecided = []
    for pattern in patterns():
        view = pattern.callback
        module = view.__module__
        if not module.startswith(OURS):
            continue
        is_api = hasattr(view, "cls") and bool(view.cls.permission_classes)
        if not is_api and not getattr(view, "decision", None):
            undecided.append(f"{pattern.pattern} -> {module}.{view.__name__}")
    assert undecided == []


def test_every_constraint_is_named_as_a_sentence() -> None:
    for app in OURS:
        for model in apps.get_app_config(app).get_models():
            for constraint in model._meta.constraints:
                assert isinstance(constraint, CheckConstraint | UniqueConstraint)
                assert constraint.name.count("_") >= 2, constraint.name
                assert len(constraint.name) <= 63, constraint.name


@pytest.mark.parametrize(
    ("forbidden", "why"),
    [
        (r"pgtrigger\.ignore", "it opens every guarded table"),
        (r"django\.contrib\.admin", "its lists show hidden votes"),
        (r"django\.dispatch|post_save|pre_save|m2m_changed", "no signals"),
        (r"sqlite", "PostgreSQL only"),
        (r"threading\.local", "no thread-locals"),
        (r"csrf_exempt", "every form is protected"),
    ],
)
def test_what_no_source_holds(forbidden: str, why: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in SOURCES
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(forbidden, line, re.IGNORECASE)
    ]
    assert found == [], why


def test_text_is_called_safe_only_where_it_is_cleaned_or_escaped() -> None:
    holding = {path.relative_to(ROOT).as_posix() for path in SOURCES if "mark_safe" in path.read_text()}
    assert holding <= {"consilium/templatetags/consilium_text.py"}


def test_no_template_holds_inline_script_style_or_unescaped_text() -> None:
    forbidden = re.compile(r"<script>|<style|\sstyle=|\son[a-z]+=\"|\|safe\b|autoescape off|https?://[^\"]*(cdn|unpkg)")
    found = [str(path.relative_to(ROOT)) for path in TEMPLATES if forbidden.search(path.read_text())]
    assert found == []


def test_nothing_that_is_a_layer_by_name() -> None:
    names = {path.stem for path in SOURCES}
    assert not names & {"services", "utils", "helpers", "common", "core", "misc"}


def test_no_file_is_over_400_lines() -> None:
    long = {
        str(path.relative_to(ROOT)): lines for path in SOURCES if (lines := len(path.read_text().splitlines())) > 400
    }
    assert long == {}


def test_every_module_says_what_it_is_about() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if path.name not in {"__init__.py", "apps.py"} and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_no_model_overrides_save() -> None:
    for app in OURS:
        for model in apps.get_app_config(app).get_models():
            assert "save" not in vars(model), model


def test_ids_are_unguessable_where_people_see_them() -> None:
    """Every model with an address has a random UUID; the others are never named in an address or an answer."""
    unseen = {"RevisionWriter", "RoundCriterion", "RunResponse", "Attempt"}
    for app in OURS:
        for model in apps.get_app_config(app).get_models():
            is_uuid = model._meta.pk is not None and model._meta.pk.get_internal_type() == "UUIDField"
            assert is_uuid or model.__name__ in unseen, model


def test_only_postgresql_is_used() -> None:
    assert settings.DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql"
