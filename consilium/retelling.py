"""A sentence that was stored in English, in the reader's language.

Decisions are stored as they were told, for good. Each was made from a pattern with values in it; whoever stored it
lists its patterns here, marked for the catalogues by gettext_noop, and the sentence is found again by its pattern. One
that no pattern fits is shown as it was stored.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache

from django.utils.translation import get_language, gettext

Retell = Callable[[str], str]


@cache
def _shape(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", pattern)
    texts, names = parts[::2], parts[1::2]
    shape = re.escape(texts[0])
    for name, text in zip(names, texts[1:], strict=True):
        shape += f"(?P<{name}>.+?)" + re.escape(text)
    return re.compile(shape, re.DOTALL)


def find_pattern(sentence: str, patterns: Sequence[str]) -> tuple[str, dict[str, str]] | None:
    """The first pattern that fits the whole sentence, with the values in it."""
    for pattern in patterns:
        if found := _shape(pattern).fullmatch(sentence):
            return pattern, found.groupdict()
    return None


def retell(sentence: str, patterns: Sequence[str], *, values: dict[str, Retell] | None = None) -> str:
    """``sentence`` by the pattern that it was made from; ``values`` says how a value of that name is retold."""
    found = find_pattern(sentence, patterns)
    if found is None or (get_language() or "en").split("-")[0] == "en":
        return sentence
    pattern, facts = found
    told = {name: values[name](value) if values and name in values else value for name, value in facts.items()}
    return gettext(pattern).format(**told)
