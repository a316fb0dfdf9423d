"""The charts of reports, as SVG: ink on paper, the accent for the one thing meant, direct labels, no legends.

A picture can't see the page around it, so each is drawn for both colour schemes, with the stylesheet's own colours, and
for a narrow screen too: there it stands at its real size, so that its words are as large as the page's.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import altair
import vl_convert
from django.utils.translation import gettext, gettext_noop

from grading.agreement import AgreementReport

FONT = "Noto Sans, system-ui, sans-serif"
ROOM = 0.3
"""A label nearer to an edge than this share of the width runs inwards from its mark."""


@dataclass(frozen=True, slots=True)
class Colours:
    """Of the stylesheet's tokens: sheet, ink, quiet, accent, line."""

    sheet: str
    ink: str
    quiet: str
    accent: str
    line: str


class Scheme(StrEnum):
    LIGHT = "light"
    DARK = "dark"


COLOURS = {
    Scheme.LIGHT: Colours(sheet="#ffffff", ink="#1d282c", quiet="#556165", accent="#0b6560", line="#ddd6c9"),
    Scheme.DARK: Colours(sheet="#1b2225", ink="#e9e6df", quiet="#a6b0b3", accent="#6cc9bf", line="#333d41"),
}
GRADER, OTHERS = gettext_noop("the grader"), gettext_noop("the other clinicians")
WIDTHS = {"wide": 640, "narrow": 340}
"""Pixels of the whole picture."""


def kappa_points(report: AgreementReport) -> list[dict[str, Any]]:
    """The marks of the chart. Left out are undefined values and those of too few pairs; the table says why."""
    rows: list[dict[str, Any]] = []
    for email, figures in report.by_clinician.items():
        for who, of in ((GRADER, figures), (OTHERS, report.among_clinicians[email])):
            if (value := of.shown("kappa")) is not None:
                rows.append({"clinician": report.names[email], "with": who, "kappa": round(value, 6)})
    return rows


def kappa_by_clinician(report: AgreementReport, *, scheme: Scheme = Scheme.LIGHT, width: str = "wide") -> bytes:
    """SVG: for each clinician the grader's kappa with them (a filled dot) and their own with the others (a ring)."""
    rows, colours, is_narrow = kappa_points(report), COLOURS[scheme], width == "narrow"
    low = min([0.0, *(row["kappa"] for row in rows)]) - 0.05
    size = 11 if is_narrow else 13
    base = altair.Chart(altair.InlineData(values=rows)).encode(
        x=altair.X(
            "kappa:Q",
            title=gettext("Cohen's kappa with this clinician"),
            scale=altair.Scale(domain=[low, 1], nice=True),
            axis=altair.Axis(tickCount=4 if is_narrow else 8),
        ),
        y=altair.Y("clinician:N", title=None, sort=None),
    )
    others = base.transform_filter(altair.datum["with"] == OTHERS).mark_point(
        size=120, color=colours.ink, strokeWidth=2, filled=False
    )
    grader = base.transform_filter(altair.datum["with"] == GRADER).mark_circle(
        size=130, color=colours.accent, opacity=1
    )
    # The first of each kind carries its name: the one above its mark, the other below, so that they never meet.
    labels = [
        _label(base, row, dy=dy, colour=colour, low=low, size=size)
        for who, dy, colour in ((GRADER, -15, colours.accent), (OTHERS, 17, colours.ink))
        for row in [next((row for row in rows if row["with"] == who), None)]
        if row is not None
    ]
    chart = (
        altair.layer(others, grader, *labels)
        .properties(
            width=WIDTHS["narrow" if is_narrow else "wide"],
            height=altair.Step(52),
            autosize=altair.AutoSizeParams(type="fit-x", contains="padding"),
            background=colours.sheet,
            padding=12,
        )
        .configure(font=FONT)  # first: it would replace what the others set
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=colours.ink,
            titleColor=colours.quiet,
            titleFontWeight="normal",
            gridColor=colours.line,
            domain=False,
            ticks=False,
            labelFontSize=size,
            titleFontSize=size,
            labelLimit=110 if is_narrow else 200,
            labelPadding=8,
        )
    )
    return str(vl_convert.vegalite_to_svg(chart.to_json())).encode()


def _label(base: Any, row: dict[str, Any], *, dy: int, colour: str, low: float, size: int) -> Any:
    share = (row["kappa"] - low) / (1 - low)
    align = "left" if share < ROOM else "right" if share > 1 - ROOM else "center"
    return (
        base.transform_filter(altair.datum.clinician == row["clinician"])
        .transform_filter(altair.datum["with"] == row["with"])
        .mark_text(align=align, dx={"left": -5, "right": 5}.get(align, 0), dy=dy, color=colour, fontSize=size)
        .encode(text=altair.value(gettext(row["with"])))
    )
