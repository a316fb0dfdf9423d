"""Somebody to talk to, by country: a study's support contact may hold lines such as ``GB: Samaritans, 116 123``.

A person reads the lines of the own country first, then what is for everybody; the other countries' stand behind.
"""

import re
from dataclasses import dataclass

_OF_A_COUNTRY = re.compile(r"\s*([A-Z]{2})\s*:\s*(\S.*)")
_ALSO_CALLED = {"UK": "GB", "EL": "GR"}


@dataclass(frozen=True, slots=True)
class Support:
    """``first`` is shown, ``others`` stand behind it; each is text, '' where there is none."""

    first: str
    others: str = ""


def support_for(text: str, country: str) -> Support:
    """A support contact as somebody in ``country`` (two letters, '' unknown) reads it.

    Lines of no country are for everybody. Where nothing would come first, nothing is put behind.
    """
    wanted = _code(country.strip().upper())
    own: list[str] = []
    everybody: list[str] = []
    others: list[str] = []
    for line in text.splitlines():
        found = _OF_A_COUNTRY.fullmatch(line)
        if found is None:
            everybody.append(line)
        elif _code(found[1]) == wanted:
            own.append(found[2].rstrip())
        else:
            others.append(line.strip())
    first = "\n".join([*own, *everybody]).strip("\n")
    if not first.strip():
        return Support("\n".join(others))
    return Support(first, "\n".join(others))


def _code(letters: str) -> str:
    return _ALSO_CALLED.get(letters, letters)
