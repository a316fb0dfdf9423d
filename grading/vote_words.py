"""The agreement on votes as people read it: sentences, then tables; what has no value stands with its reason."""

from typing import Any

from annotation.models import ObjectionCategory
from consilium.templatetags.consilium_text import decimals
from grading.own_votes import OwnReport, OwnVotes
from grading.report_cells import Cell, Head, Notes, Row, Table, n_of_m
from grading.score_tables import axes_in_order, axis_words
from grading.statistics.undefined import Coefficient, Reason
from grading.vote_agreement import FEWEST_PEOPLE, TOO_FEW_CRITERIA, TOO_FEW_PEOPLE, Agreement, Figures, When

NEARLY_ALL = 0.9
LOW = 0.4
"""From this share of agreeing votes on an alpha below this is said to be low for want of objections."""

WORDS = {
    "agree": "Both agree",
    "object": "Both object",
    "ac1": "AC1",
    "alpha": "Alpha",
    "observed": "Same vote",
    "weights": "Weights apart",
}
SENTENCES = {
    Reason.NO_PAIRS: "No criterion has the votes of two people that it takes.",
    Reason.SINGLE_CLASS: "Every vote is the same, so agreement beyond chance can't be told.",
    Reason.CLASS_ABSENT: "Nobody voted so.",
}
NO_MAJORITY = "There is no criterion on which you voted and most of the others did so."
NO_WEIGHTS = "There is no criterion on which you and somebody else agreed."
HEADINGS = {
    When.FIRST: "First round, before discussion",
    When.LAST: "Last round",
    When.AGAIN_FIRST: "Voted on again: first round",
    When.AGAIN_LAST: "Voted on again: last round",
}
ABOUT = (
    "Both agree: of the pairs of votes in which one person agrees, the share in which the other agrees too; both "
    "object likewise. Same vote: percent agreement. AC1 and alpha take chance away, in two ways. Weights apart: the "
    "median difference of two agreeing people's weights on one criterion, in points."
)


def percent(share: float) -> str:
    """97.4%, and never 100.0% or 0.0% of what is not all or nothing."""
    rounded = round(100 * share, 1)
    if share < 1 and rounded == 100:
        return "more than 99.9%"
    if share > 0 and rounded == 0:
        return "less than 0.1%"
    return f"{rounded:g}%"


def sentences(report: Agreement) -> list[str]:
    """The report in words: what there is, what the specific agreements say, how to read alpha."""
    figures = report.figures[When.FIRST]
    if not report.has_votes:
        return ["No round is revealed yet in which somebody voted."]
    if figures is None:
        return [f"Fewer than {FEWEST_PEOPLE} people have votes that counted. {TOO_FEW_PEOPLE}"]
    if not figures.compared:
        return ["No criterion has two votes that agree or object, so there is nothing to compare."]
    if figures.is_too_few:
        return [f"Too few to conclude from. {TOO_FEW_CRITERIA}"]
    return [_specific(figures), *_how_to_read_alpha(figures)]


def _specific(figures: Figures) -> str:
    agree, objecting = figures.coefficients["agree"].value, figures.coefficients["object"].value
    said = "Before discussion: "
    if agree is None:
        return said + "everybody objected to everything."
    said += f"where one clinician agrees, another agrees too in {percent(agree)} of pairs; "
    if objecting is None:
        return said + "nobody objected."
    return said + f"where one objects, another objects too in {percent(objecting)}."


def _how_to_read_alpha(figures: Figures) -> list[str]:
    alpha, same, ac1 = (figures.coefficients[name].value for name in ("alpha", "observed", "ac1"))
    if alpha is None:
        return [f"All {figures.votes:,} votes are the same. Alpha has no value then: it compares with chance."]
    share = figures.agreed / figures.votes
    if share < NEARLY_ALL or alpha >= LOW:
        return []
    assert same is not None
    assert ac1 is not None
    return [
        f"Alpha is {decimals(alpha)} although two votes on one criterion are the same in {percent(same)} of pairs: "
        f"{percent(share)} of all votes agree, and where nearly everybody agrees alpha comes out low, near zero, "
        f"however well the panel is at one. AC1, which does not, is {decimals(ac1)}; how well objections meet, "
        "“both object” says."
    ]


def open_sentence(count: int) -> str:
    """What is said of rounds that are not revealed: of how many conversations, nothing else."""
    if not count:
        return ""
    said = "1 conversation still has" if count == 1 else f"{count:,} conversations still have"
    return f"{said} an open round, which is left out here."


def imported_sentence(figures: Figures) -> str:
    given = figures.agreed + figures.objected + figures.abstained + figures.recused
    if not figures.imported:
        return ""
    return f"{n_of_m(figures.imported, given)} votes were imported: taken elsewhere, and counted here."


# Tables


def rounds_table(report: Agreement) -> Table:
    """First and last rounds, of all criteria and of those voted on again."""
    notes = Notes()
    shown = list(When) if report.voted_again else [When.FIRST]
    rows = [_row(HEADINGS[when], report.figures[when], notes) for when in shown]
    heads = ["Round", "Criteria", "People", "Agree", "Object", *WORDS.values()]
    return Table("rounds", "Before and after discussion", [Head(text) for text in heads], rows, notes, ABOUT)


def axes_table(report: Agreement, when: When) -> Table:
    """By axis. Axes that can't be told of are counted below."""
    notes, axes = Notes(), report.axes[when]
    order = axes_in_order(set(axes), report.study.axes)
    rows = [_row(axis_words(axis), axes[axis], notes) for axis in order]
    heads = ["Axis", "Criteria", "People", "Agree", "Object", *WORDS.values()]
    left_out = report.left_out[when]
    about = f"{left_out} ax{'is is' if left_out == 1 else 'es are'} left out. {TOO_FEW_PEOPLE}" if left_out else ""
    return Table(f"axes-{when}", HEADINGS[when], [Head(text) for text in heads], rows, notes, about)


def categories_table(report: Agreement) -> Table:
    """Objections by category, in the first and in the last rounds."""
    notes = Notes()
    rows = [
        Row(
            str(ObjectionCategory(category).label).capitalize(),
            [_count(report.categories[when].get(category), notes) for when in (When.FIRST, When.LAST)],
        )
        for category in ObjectionCategory.values
    ]
    heads = [Head("Category"), Head("First round"), Head("Last round")]
    return Table("categories", "Why clinicians objected: counts of objections", heads, rows, notes)


def _count(number: int | None, notes: Notes) -> Cell:
    return Cell("not told", mark=notes.mark(TOO_FEW_PEOPLE), is_word=True) if number is None else Cell(f"{number:,}")


def _row(name: str, figures: Figures | None, notes: Notes) -> Row:
    if figures is None:
        return Row(name, [Cell("not told", mark=notes.mark(TOO_FEW_PEOPLE), is_word=True, span=4 + len(WORDS))])
    counts = [figures.criteria, figures.people, figures.agreed, figures.objected]
    cells = [Cell(f"{number:,}") for number in counts]
    if figures.is_too_few:
        return Row(
            name, [*cells, Cell("counts only", mark=notes.mark(TOO_FEW_CRITERIA), is_word=True, span=len(WORDS))]
        )
    return Row(name, [*cells, *(cell_of(figures.coefficients[each], notes, each) for each in WORDS)])


def cell_of(number: Coefficient, notes: Notes, name: str = "") -> Cell:
    """A number, or why there is none."""
    if number.reason is not None:
        return _undefined(SENTENCES[number.reason], notes)
    assert number.value is not None
    return Cell(decimals(number.value, 1) if name == "weights" else decimals(number.value))


def _undefined(sentence: str, notes: Notes) -> Cell:
    return Cell("undefined", mark=notes.mark(sentence), is_word=True)


# One person's own


def own_table(report: OwnReport) -> Table:
    """How often one person voted as most of the others did, and how much heavier the own weights are."""
    notes = Notes()
    rows = [Row(HEADINGS[when], _own_cells(figures, notes)) for when, figures in report.figures.items()]
    heads = ["Round", "Your votes", "As most others", "Where most agreed", "Where most objected", "Your weights"]
    about = (
        "Most others: more than half of the two or more others who agreed or objected; without such a majority a "
        "criterion is not compared. Your weights: yours less the mean of the others', in points; plus is heavier, of "
        "what is wanted and of what is not."
    )
    return Table("own", "Your votes beside the others'", [Head(text) for text in heads], rows, notes, about)


def _own_cells(own: OwnVotes, notes: Notes) -> list[Cell]:
    parts = {
        "with_majority": (own.agreed_too + own.objected_too, own.compared),
        "where_others_agreed": (own.agreed_too, own.others_agreed),
        "where_others_objected": (own.objected_too, own.others_objected),
    }
    cells = [Cell(f"{own.votes:,}")]
    for name, share in own.shares.items():
        if share.value is None:
            cells.append(_undefined(NO_MAJORITY, notes))
        else:
            cells.append(Cell(percent(share.value), n_of_m(*parts[name])))
    difference = own.weight_difference.value
    if difference is None:
        return [*cells, _undefined(NO_WEIGHTS, notes)]
    return [*cells, Cell(with_sign(difference), f"over {own.weighed:,}")]


def with_sign(number: float) -> str:
    """+0.4, −0.4, 0.0."""
    rounded = round(number, 1) or 0.0
    return f"{'+' if rounded > 0 else ''}{decimals(rounded, 1)}"


# A terminal

TERMINAL_ABOUT = (
    f"{ABOUT} Again: criteria voted on more than once. –: undefined, or too few criteria. With --json every number, "
    "and the reason of each that has none."
)


def terminal_rows(report: dict[str, Any]) -> list[tuple[list[str], list[list[str]]]]:
    """The rounds, the axes in the first rounds and the categories, from the report as data."""
    heads = ["Criteria", "Agree", "Object", *(WORDS | {"observed": "Same", "weights": "Apart"}).values()]
    names = {When.FIRST: "First", When.LAST: "Last", When.AGAIN_FIRST: "Again: first", When.AGAIN_LAST: "Again: last"}
    rounds = [when for when in When if report["voted_again"] or when == When.FIRST]
    categories = report["by_category"]
    return [
        (["Round", *heads], [_line(names[when], report[when]) for when in rounds]),
        (
            ["Axis, first round", *heads],
            [_line(axis_words(axis), row) for axis, row in report["by_axis"]["first"].items()],
        ),
        (
            ["Objections", "First round", "Last round"],
            [
                [category.label, f"{categories['first'][category]:,}", f"{categories['last'].get(category, 0):,}"]
                for category in ObjectionCategory
            ],
        ),
    ]


def _line(name: str, row: dict[str, Any] | None) -> list[str]:
    if row is None:
        return [name, *["not told"] * 3, *[""] * len(WORDS)]
    numbers = [_number(row, each) for each in WORDS]
    return [name, f"{row['criteria']:,}", f"{row['agreed']:,}", f"{row['objected']:,}", *numbers]


def _number(row: dict[str, Any], name: str) -> str:
    if row[name] is None or row["is_too_few"]:
        return "–"
    return decimals(row[name], 1 if name == "weights" else 3)
