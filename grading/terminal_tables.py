"""Tables for a terminal of 100 columns: words to the left, figures to the right, a rule under the heads.

Widths count as a terminal does: a CJK character takes two columns, a combining mark none.
"""

import unicodedata
from collections.abc import Sequence

WIDTH = 100
GAP = "  "


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def cut(text: str, width: int) -> str:
    """The text in at most so many columns, with an ellipsis where something was left away."""
    if columns_of(text) <= width:
        return text
    kept = ""
    for letter in text:
        if columns_of(kept + letter) > width - 1:
            break
        kept += letter
    return f"{kept}…"


def lay_out_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, words: int = 1) -> list[str]:
    """Lines of a table. The first ``words`` columns hold words; the first is cut where all would not fit."""
    table = [list(heads), *(list(row) for row in rows)]
    widths = [max(columns_of(row[index]) for row in table) for index in range(len(heads))]
    widths[0] = min(widths[0], max(12, WIDTH - sum(widths[1:]) - len(GAP) * (len(widths) - 1)))

    def line(row: Sequence[str]) -> str:
        cells = [cut(cell, width) for cell, width in zip(row, widths, strict=True)]
        padding = [" " * (width - columns_of(cell)) for cell, width in zip(cells, widths, strict=True)]
        return GAP.join(
            cell + space if index < words else space + cell
            for index, (cell, space) in enumerate(zip(cells, padding, strict=True))
        ).rstrip()

    rule = GAP.join("─" * width for width in widths)
    return [line(table[0]), rule, *(line(row) for row in table[1:])]


def wrapped(text: str) -> list[str]:
    """A sentence in lines of the terminal's width."""
    lines, line = [], ""
    for word in text.split():
        if line and columns_of(f"{line} {word}") > WIDTH:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line] if line else lines
