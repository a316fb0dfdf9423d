"""Telephone numbers, addresses, e-mails and record numbers that look like a person's.

The scan warns and never decides: it tells where to look, and never repeats what it found. Helplines, freephone
numbers, short numbers and those kept for fiction are nobody's own and are passed over.
"""

import re
from collections.abc import Iterator

from annotation.importing.report import Report

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@([\w-]+(?:\.[\w-]+)+)")
_NOBODYS_DOMAIN = re.compile(
    r"(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid|localhost|samaritans\.org)$", re.IGNORECASE
)
_TELEPHONE = re.compile(
    r"""(?<![\w.,/:-])(?:
        \+\d[\d ().\-/]{6,20}\d                                   # +49 30 1234567
        | \(?0\d{1,5}\)?(?:[ ./-]{0,2}\d){6,10}                   # 030 / 123 45 67, 06 12 34 56 78
        | (?:1[ .-])?(?:\([2-9]\d\d\)[ ]?|[2-9]\d\d[ .-])\d{3}[ .-]\d{4}   # (617) 234-5678
        | 1?[2-9]\d{2}[2-9]\d{6} | 1[3-9]\d{9}                    # ten or eleven digits in one
    )(?![\w]|[.,/:-]\d)""",
    re.VERBOSE,
)
_DATE = re.compile(r"0\d[./-]\d{1,2}[./-]\d{4}|0\d-\d\d-\d\d \d\d")
_NOBODYS = re.compile(
    r"""^(?:
        1?8(?:00|33|44|55|66|77|88)\d{7}        # freephone in North America
        | (?:44|0)(?:80[08]\d{6,7}|3(?:00|03|30|45|70)\d{7}|8(?:4[2-5]|7[0-3])\d{7})   # the United Kingdom's
        | 0?80[0-9]\d{4,9} | \d{1,3}0?800\d{6,8}    # freephone elsewhere
        | (?:61|0)?1[38]00\d{6} | 13\d{4} | (?:61|0)477131114    # Australia's
        | (?:\d{1,3})?0?116\d{3}                # the European helplines
        | 1?555\d{7} | 1?\d{3}55501\d\d          # kept for fiction
        | 9152987821 | 9999666555 | 1?8602662345    # helplines in India
    )$""",
    re.VERBOSE,
)
_ADDRESS = re.compile(
    r"""\b\d{1,5}[a-zA-Z]?\s+(?:[A-Z][\w'’.-]*\s+){1,4}
          (?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Terrace|Crescent)\b
      | \b[A-ZÄÖÜ][\w-]{0,40}?(?:straße|strasse|str\.|weg|gasse|allee|platz)\s+\d{1,4}\s?[a-z]?\b
      | \b(?:Calle|Avenida|Av\.|Rua|Via|Viale|Rue|Jalan|Jl\.)\s+
          (?:[A-ZÀ-Ý][\w'’.-]*\s*|d[eiao]\w{0,3}\s+){1,5},?\s*(?:n[.º°o]+\s*)?\d{1,5}\b
      | \b\d{1,4},?\s+(?:rue|avenue|boulevard|allée|chemin)\s+(?:d\w{0,2}['’ ]\s*)?(?:l[ae]s?\s+)?[A-ZÀ-Ý]
    """,
    re.VERBOSE,
)
_RECORD_NUMBER = re.compile(
    r"""\b(?:mrn|nhs|ssn|medical\s+record|health\s+record|patient|chart|case|insurance|policy|social\s+security|passport)
        \s*(?:no|nr|num|number|id|file)?\b\.?\s*(?:is|[:\#=])?\s*\#?\s*(?:[A-Z]{1,4}[- ]?)?\d[\d -]{3,}\d
      | \b(?!000|666)[0-8]\d{2}-(?!00)\d{2}-(?!0000)\d{4}\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def find_personal_data(text: str) -> Iterator[str]:
    """Yield, once each, what in a text looks like a person's: "an e-mail address", "a telephone number" ..."""
    if "@" in text and any(not _NOBODYS_DOMAIN.search(found[1]) for found in _EMAIL.finditer(text)):
        yield "an e-mail address"
    if any(_is_somebodys(found[0]) for found in _TELEPHONE.finditer(text)):
        yield "a telephone number"
    if _ADDRESS.search(text):
        yield "a postal address"
    if _RECORD_NUMBER.search(text):
        yield "a record number"


def warn_of_personal_data(report: Report, *, line: int, column: str, text: str, place: str = "The text") -> None:
    """Warn of each kind of personal data that a text seems to hold."""
    for what in find_personal_data(text):
        report.warn(
            line,
            column,
            f"{place} holds what looks like {what}. If it is a real person's, take it out before importing.",
            kind="personal data",
        )


def _is_somebodys(number: str) -> bool:
    if _DATE.match(number):
        return False
    digits = re.sub(r"\D", "", number)
    return 8 <= len(digits) <= 15 and not _NOBODYS.match(digits.removeprefix("00"))
