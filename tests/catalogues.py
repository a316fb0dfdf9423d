"""The catalogues of the pages' languages: what has to be translated, what still is not, and their compiled form.

    python -m tests.catalogues                  write new sentences into the .po files, compile the .mo files
    python -m tests.catalogues missing [PATH ..] a .po of what has no translation yet (of these sources alone)
    python -m tests.catalogues take LANGUAGE FILE ..   take translations from .po files

What is collected: template tags and filters, gettext's functions in Python, and the sentences of refusals, which are
the docstrings of RuleViolation's subclasses. Each app has its own catalogue.
"""

import ast
import importlib
import io
import os
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from babel.messages import mofile, pofile
from babel.messages.catalog import Catalog

ROOT = Path(__file__).resolve().parents[1]
APPS = ("consilium", "annotation", "rubrics", "grading")
LANGUAGES = ("es", "ar")
FUNCTIONS = {
    "_": 1,
    "gettext": 1,
    "gettext_lazy": 1,
    "gettext_noop": 1,
    "ngettext": 2,
    "ngettext_lazy": 2,
    "pgettext": 1,
    "pgettext_lazy": 1,
    "npgettext": 2,
    "npgettext_lazy": 2,
}
"""How many forms each takes; those with a p take a context before."""
IN_A_TAG = re.compile(r"\{[{%].*?[}%]\}", re.DOTALL)
UNDERSCORE = re.compile(r"""(?<![\w])_\((["'])((?:(?!\1)[^\\]|\\.)*)\1\)""")


@dataclass(frozen=True, slots=True)
class Message:
    """A sentence to be translated, with its plural where it has one, and the context that tells it from another."""

    singular: str
    plural: str = ""
    context: str = ""

    @property
    def key(self) -> Any:
        return (self.singular, self.plural) if self.plural else self.singular


Found = dict[Message, list[str]]
"""Message -> the files that say it."""


def set_up() -> None:
    """Django, for its templates and for the refusals; no database is asked."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "consilium.settings")
    import django

    django.setup()


def collect(app: str) -> Found:
    """What an app says."""
    found: Found = {}
    for path in sorted((ROOT / app).rglob("*.py")):
        if "migrations" not in path.parts:
            _add(found, path, messages_of_python(path.read_text()))
    for suffix in ("*.html", "*.txt"):
        for path in sorted((ROOT / app).rglob(suffix)):
            if "templates" in path.parts:
                _add(found, path, messages_of_template(path.read_text()))
    for kind, message in refusals():
        if kind.__module__.split(".")[0] == app:
            path = Path(str(sys.modules[kind.__module__].__file__))
            _add(found, path, [message])
    return found


def _add(found: Found, path: Path, messages: Iterable[Message]) -> None:
    name = path.relative_to(ROOT).as_posix()
    for message in messages:
        places = found.setdefault(message, [])
        if name not in places:
            places.append(name)


def messages_of_python(source: str) -> Iterator[Message]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name not in FUNCTIONS:
            continue
        texts = [part.value for part in node.args if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        context = texts.pop(0) if "pgettext" in name and texts else ""
        if len(texts) >= FUNCTIONS[name]:
            yield Message(texts[0], texts[1] if FUNCTIONS[name] == 2 else "", context)


def messages_of_template(source: str) -> Iterator[Message]:
    from django.template import engines
    from django.templatetags.i18n import BlockTranslateNode, TranslateNode

    template: Any = engines["django"].from_string(source)
    nodes = template.template.nodelist
    for node in nodes.get_nodes_by_type(TranslateNode):
        context = node.message_context.var if node.message_context else ""
        yield Message(str(node.filter_expression.var.literal or node.filter_expression.var), "", str(context))
    for node in nodes.get_nodes_by_type(BlockTranslateNode):
        singular, _ = node.render_token_list(node.singular)
        plural, _ = node.render_token_list(node.plural) if node.plural else ("", [])
        context = node.message_context.var if node.message_context else ""
        yield Message(singular, plural, str(context))
    for tag in IN_A_TAG.findall(source):
        for _, text in UNDERSCORE.findall(tag):
            yield Message(text.replace('\\"', '"').replace("\\'", "'"))


def refusals() -> Iterator[tuple[type, Message]]:
    """Every kind of refusal with its sentence."""
    from consilium.errors import RuleViolation, first_line

    for app in APPS:
        package = importlib.import_module(app)
        for module in pkgutil.walk_packages(package.__path__, f"{app}."):
            if not module.name.endswith("__main__") and ".migrations" not in module.name:
                importlib.import_module(module.name)
    waiting: list[type] = [RuleViolation]
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        if kind.__module__.split(".")[0] in APPS:
            yield kind, Message(first_line(kind))


# Catalogues


def file_of(app: str, language: str, ending: str = "po") -> Path:
    return ROOT / app / "locale" / language / "LC_MESSAGES" / f"django.{ending}"


def read(app: str, language: str) -> Catalog:
    """An app's catalogue; an empty one where there is none yet."""
    path = file_of(app, language)
    if not path.exists():
        return Catalog(locale=language, project="Consilium", charset="utf-8")
    with path.open("rb") as file:
        return pofile.read_po(file, locale=language)


def write(app: str, language: str, catalogue: Catalog) -> None:
    """The .po, sorted, without dates: the same sentences make the same bytes; and the .mo."""
    path = file_of(app, language)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = io.BytesIO()
    pofile.write_po(text, catalogue, width=110, omit_header=True, sort_output=True, ignore_obsolete=True)
    head = (
        'msgid ""\nmsgstr ""\n'
        f'"Language: {language}\\n"\n'
        '"MIME-Version: 1.0\\n"\n"Content-Type: text/plain; charset=utf-8\\n"\n'
        '"Content-Transfer-Encoding: 8bit\\n"\n'
        f'"Plural-Forms: {catalogue.plural_forms}\\n"\n\n'
    )
    path.write_bytes(head.encode() + text.getvalue())
    file_of(app, language, "mo").write_bytes(compiled(path))


def compiled(path: Path) -> bytes:
    """A .po as the .mo that Django reads."""
    with path.open("rb") as file:
        catalogue = pofile.read_po(file)
    catalogue.creation_date = datetime(2026, 1, 1, tzinfo=UTC)  # the same .po makes the same bytes at any time
    binary = io.BytesIO()
    mofile.write_mo(binary, catalogue)
    return binary.getvalue()


def is_translated(catalogue: Catalog, message: Message) -> bool:
    entry = catalogue.get(message.key, context=message.context or None)
    if entry is None or entry.fuzzy:
        return False
    return all(entry.string) if isinstance(entry.string, tuple | list) else bool(entry.string)


def update(app: str, language: str, taken: Iterable[Catalog] = ()) -> Catalog:
    """An app's catalogue with all that it says now and nothing else; translations of ``taken`` come in."""
    old = read(app, language)
    new = Catalog(locale=language, project="Consilium", charset="utf-8")
    for message, places in collect(app).items():
        context = message.context or None
        string: Any = ""
        for source in (old, *taken):
            entry = source.get(message.key, context=context)
            if entry is not None and entry.string and (any(entry.string) if message.plural else True):
                string = entry.string
        if message.plural:
            string = in_all_forms(string, new.num_plurals)
        new.add(message.key, string, locations=[(place, 0) for place in places], context=context)
    return new


def in_all_forms(forms: Any, number: int) -> Any:
    """Two forms serve a language with a third one for millions too (Spanish)."""
    given = [form for form in forms if form]
    return (*given, given[-1]) if len(given) == 2 and number == 3 else forms


def main(words: list[str]) -> int:
    set_up()
    act = words[0] if words else "update"
    if act == "missing":
        wanted = [Path(word).resolve().relative_to(ROOT).as_posix() for word in words[1:]]
        out = Catalog(charset="utf-8")
        for app in APPS:
            catalogue = read(app, "es")
            for message, places in collect(app).items():
                is_wanted = not wanted or any(place.startswith(tuple(wanted)) for place in places)
                if is_wanted and not is_translated(catalogue, message):
                    out.add(
                        message.key, "", locations=[(place, 0) for place in places], context=message.context or None
                    )
        pofile.write_po(sys.stdout.buffer, out, omit_header=True, width=0)
        return 0
    taken: dict[str, list[Catalog]] = {language: [] for language in LANGUAGES}
    if act == "take":
        for name in words[2:]:
            with open(name, "rb") as file:
                taken[words[1]].append(pofile.read_po(file, locale=words[1]))
    for app in APPS:
        for language in LANGUAGES:
            write(app, language, update(app, language, taken[language]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
