"""What stands in a table of a report: a number with its coverage, or a word for its absence with the reason below.

There is one way of saying nothing: *undefined* with a letter, whose sentence stands under the table; *not graded yet*
where the grader has not got there; *counts only* where pairs are too few for a coefficient.
"""

from dataclasses import dataclass, field
from string import ascii_lowercase

from django.utils.translation import gettext, gettext_noop

from consilium.templatetags.consilium_text import decimals
from grading.agreement import TOO_FEW
from grading.statistics.undefined import Coefficient
from grading.told_again import reason_in_words

NOT_GRADED_YET = gettext_noop("not graded yet")
COUNTS_ONLY = gettext_noop("counts only")


@dataclass(frozen=True, slots=True)
class Cell:
    """``over`` is the coverage in words ("over 3 of 6"), ``mark`` the letter of a footnote, ``span`` of columns."""

    text: str
    over: str = ""
    mark: str = ""
    is_word: bool = False
    span: int = 1
    href: str = ""


@dataclass(slots=True)
class Notes:
    """The footnotes of one table: each reason once, by letter, in the order in which they are met."""

    marks: dict[str, str] = field(default_factory=dict)

    def mark(self, sentence: str) -> str:
        return self.marks.setdefault(sentence, ascii_lowercase[len(self.marks)])

    def cell(self, number: Coefficient, *, over: str = "", is_waiting: bool = False) -> Cell:
        """A number, or why there is none. ``is_waiting``: nothing that it is made of is graded yet."""
        if number.value is not None:
            return Cell(decimals(number.value), over)
        if is_waiting:
            return Cell(gettext(NOT_GRADED_YET), is_word=True)
        assert number.reason is not None
        return Cell(gettext("undefined"), over, self.mark(reason_in_words(number.reason.sentence)), is_word=True)

    def counts_only(self, *, span: int = 1) -> Cell:
        return Cell(gettext(COUNTS_ONLY), mark=self.mark(reason_in_words(TOO_FEW)), is_word=True, span=span)


@dataclass(frozen=True, slots=True)
class Head:
    text: str
    over: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    cells: list[Cell]
    href: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """``heads`` begins with the one above the rows' names; ``about`` says how to read the numbers."""

    id: str
    caption: str
    heads: list[Head]
    rows: list[Row]
    notes: Notes
    about: str = ""


def n_of_m(n: int, m: int) -> str:
    return gettext("{n} of {m}").format(n=f"{n:,}", m=f"{m:,}")
