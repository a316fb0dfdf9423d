"""The charts of reports, as SVG: ink on paper, the accent for the one thing meant, direct labels, no legends."""

from typing import Any

import altair
import vl_convert

from grading.agreement import AgreementReport

INK, QUIET, ACCENT = "#1d282c", "#586469", "#0b6560"
FONT = "Noto Sans, system-ui, sans-serif"


def kappa_by_clinician(report: AgreementReport) -> bytes:
    """SVG: for each clinician the grader's kappa with them (a filled dot) and their own with the others (a ring).

    Clinicians with neither value are left out; the table beside the chart says why.
    """
    rows: list[dict[str, Any]] = []
    for name, figures in report.by_clinician.items():
        others = report.among_clinicians.get(name)
        pairs = [("the grader", figures), ("the other clinicians", others)]
        for who, figure in pairs:
            if figure is not None and (value := figure.coefficients["kappa"].value) is not None:
                rows.append({"clinician": name.split("@")[0], "with": who, "kappa": round(value, 6)})
    base = altair.Chart(altair.InlineData(values=rows)).encode(
        x=altair.X(
            "kappa:Q",
            title="Cohen's kappa with this clinician",
            scale=altair.Scale(domain=[min([0.0, *(row["kappa"] for row in rows)]) - 0.05, 1], nice=True),
        ),
        y=altair.Y("clinician:N", title=None),
    )
    grader = base.transform_filter("datum.with == 'the grader'").mark_circle(size=140, color=ACCENT, opacity=1)
    others = base.transform_filter("datum.with == 'the other clinicians'").mark_point(
        size=120, color=INK, strokeWidth=2, filled=False
    )
    first = (
        base.transform_filter("datum.with == 'the grader'")
        .transform_window(rank="row_number()", sort=[altair.SortField("clinician")])
        .transform_filter("datum.rank == 1")
    )
    label = first.mark_text(align="left", dx=12, color=ACCENT, fontWeight="bold").encode(
        text=altair.value("the grader")
    )
    ring = (
        base.transform_filter("datum.with == 'the other clinicians'")
        .transform_window(rank="row_number()", sort=[altair.SortField("clinician")])
        .transform_filter("datum.rank == 1")
        .mark_text(align="right", dx=-12, color=INK)
        .encode(text=altair.value("the other clinicians"))
    )
    chart = (
        altair.layer(others, grader, label, ring)
        .properties(width=520, height=altair.Step(46), background="white", padding=12)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=INK, titleColor=QUIET, gridColor="#e8e3d8", domain=False, ticks=False, labelFontSize=13
        )
        .configure(font=FONT)
    )
    return str(vl_convert.vegalite_to_svg(chart.to_json())).encode()
