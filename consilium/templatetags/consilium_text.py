"""How texts are shown: Markdown of guidelines, differences by word, points with their sign, names of languages.

What people wrote is always escaped or cleaned; a filter that returns HTML says how.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache
from importlib.resources import files

import nh3
from django import template
from django.conf.locale import LANG_INFO
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from markdown_it import MarkdownIt

register = template.Library()

MINUS = "\N{MINUS SIGN}"
ALLOWED_TAGS = {
    *("p", "br", "hr", "h2", "h3", "h4", "strong", "em", "s", "code", "pre", "blockquote"),
    *("ul", "ol", "li", "a", "table", "thead", "tbody", "tr", "th", "td"),
}
RIGHT_TO_LEFT = {"ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"}
RIGHT_TO_LEFT_SCRIPTS = {"adlm", "arab", "hebr", "nkoo", "rohg", "syrc", "thaa"}
SPEAKERS = {
    "adult": _("Adult"),
    "teen": _("Teenager"),
    "caregiver": _("Caregiver"),
    "clinician": _("Clinician"),
}
ACUITY_MARKS = {"emergent": "◆", "high_acuity": "▲", "non_acute": "○"}

_markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@register.filter
def markdown(text: str) -> SafeString:
    """Markdown as HTML: raw HTML in it is escaped, headings begin at the second level, the rest is cleaned by nh3."""
    rendered = re.sub(r"<(/?)h([1-6])>", lambda m: f"<{m[1]}h{min(int(m[2]) + 1, 4)}>", _markdown.render(text or ""))
    return mark_safe(
        nh3.clean(rendered, tags=ALLOWED_TAGS, attributes={"a": {"href"}}, url_schemes={"https", "mailto"})
    )


def _words(text: str) -> list[str]:
    """Words and the white space and marks between them. Scripts without spaces are compared by character."""
    return re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]|\w+|\s+|[^\w\s]", text)


READS_AS_ONE = 1 / 3
"""A text that shares less than this with the other one is another text: word by word nobody could read it."""


@register.filter
def diff_words(old: str, new: str) -> SafeString:
    """What became of ``old`` in ``new``, by word: removed in <del>, added in <ins>, each escaped and said aloud.

    Where most was written anew, the two texts stand one below the other, whole.
    """
    before, after = _words(old or ""), _words(new or "")
    steps = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    if _shared(before, after, steps) < READS_AS_ONE:
        return _mark("del", gettext("removed"), old, "whole") + _mark("ins", gettext("added"), new, "whole")
    parts = []
    for act, old_from, old_to, new_from, new_to in steps:
        removed, added = "".join(before[old_from:old_to]), "".join(after[new_from:new_to])
        if act == "equal":
            parts.append(format_html("{}", added))
        else:
            parts += [_mark("del", gettext("removed"), removed), _mark("ins", gettext("added"), added)]
    return format_html_join("", "{}", ((part,) for part in parts))


def _shared(before: list[str], after: list[str], steps: Sequence[tuple[str, int, int, int, int]]) -> float:
    """Which part of the longer text's words stands in both, in the same order; 1 where one of them is a single word."""
    longest = max(sum(not word.isspace() for word in words) for words in (before, after))
    least = min(sum(not word.isspace() for word in words) for words in (before, after))
    if least <= 1:
        return 1
    kept = sum(not word.isspace() for act, start, end, *_ in steps if act == "equal" for word in before[start:end])
    return kept / longest


def _mark(tag: str, said: str, text: str, kind: str = "") -> SafeString:
    if not text:
        return SafeString("")
    name = format_html(' class="{}"', kind) if kind else ""
    return format_html('<{0}{1}><span class="visually-hidden">{2}: </span>{3}</{0}>', SafeString(tag), name, said, text)


@register.filter
def signed(points: int | None) -> str:
    """Points with their sign: +6, −8 (a minus sign, not a hyphen); an empty string for none."""
    if points is None:
        return ""
    return f"+{points}" if points > 0 else f"{MINUS}{abs(points)}" if points < 0 else "0"


@register.filter
def decimals(number: float, places: int = 3) -> str:
    """A number with a fixed count of decimals and a true minus sign: −0.667."""
    return f"{number:.{places}f}".replace("-", "\N{MINUS SIGN}")


@register.filter
def language_name(tag: str | None) -> str:
    """The name of a BCP 47 tag in the reader's language where Django knows it, else the tag itself; unknown is said."""
    if not tag:
        return gettext("Language not known")
    parts = tag.split("-")
    for length in range(len(parts), 0, -1):
        known = LANG_INFO.get("-".join(parts[:length]).lower(), {})
        if "fallback" in known:
            known = LANG_INFO[known["fallback"][0]]
        if "name" in known:
            name = gettext(known["name"])
            return name if length == len(parts) else f"{name} ({tag})"
    return tag


@cache
def _countries() -> dict[str, str]:
    """Names by ISO 3166 code, as the time zones' tables have them."""
    table = (files("tzdata.zoneinfo") / "iso3166.tab").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines() if line and not line.startswith("#"))
    return {"XK": "Kosovo"} | {code: name.replace(" & ", " and ") for code, name in rows}


@register.filter
def country_name(code: str | None) -> str:
    """The English name of a country's two letters, else the letters; an empty string for none."""
    return _countries().get((code or "").upper(), code or "")


@register.filter
def language_direction(tag: str | None) -> str:
    """The direction of a BCP 47 tag's script: rtl or ltr; auto where the language is not known."""
    if not tag:
        return "auto"
    first, *rest = tag.lower().split("-")
    scripts = [part for part in rest if len(part) == 4 and part.isalpha()]
    if scripts:
        return "rtl" if scripts[0] in RIGHT_TO_LEFT_SCRIPTS else "ltr"
    return "rtl" if first in RIGHT_TO_LEFT else "ltr"


@register.filter
def speaker(role: str, user_profile: str | None) -> str:
    """Who speaks in a turn, in words: the user by profile where it is known."""
    if role == "assistant":
        return gettext("Assistant")
    if role == "system":
        return gettext("Instructions to the assistant")
    return str(SPEAKERS.get(user_profile or "", _("Person")))


@register.filter
def acuity_mark(acuity: str | None) -> str:
    """A mark beside the word of an acuity, never in its place."""
    return ACUITY_MARKS.get(acuity or "", "")


@register.filter
def in_words(name: str) -> str:
    """An axis or a category as words: "communication_and_writing" becomes "Communication and writing".

    Those that a catalogue knows are said in the reader's language.
    """
    words = name.replace("_", " ").strip()
    return gettext(words[:1].upper() + words[1:]) if words else ""


@register.filter
def shortened(text: str, words: int) -> str:
    """The first so many words of a text for a list; ends in an ellipsis where something was left away."""
    parts = text.split()
    return text if len(parts) <= words else " ".join(parts[:words]) + " …"
