"""The agreement on votes as people read it: sentences first, then tables, each number with its reason where it has none."""

from annotation.models import ObjectionCategory
from consilium.templatetags.consilium_text import decimals, signed
from grading.own_votes import OwnReport, OwnVotes
from grading.report_cells import Cell, Head, Notes, Row, Table, n_of_m
from grading.score_tables import axes_in_order, axis_words
from grading.statistics.undefined import Coefficient, Reason
from grading.vote_agreement import FEWEST_PEOPLE, TOO_FEW_CRITERIA, TOO_FEW_PEOPLE, Agreement, Figures, When

NEARLY_ALL = 0.9
"""From this share of agreeing votes on, alpha is said to be low for want of objections, not of agreement."""

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
    alpha, same, share = figures.coefficients["alpha"].value, figures.coefficients["observed"].value, figures.agreeing
    assert same is not None and share is not None
    if alpha is None:
        return [f"All {figures.votes:,} votes are the same. Alpha has no value then: it compares with chance."]
    if share < NEARLY_ALL:
        return []
    ac1 = figures.coefficients["ac1"].value
    assert ac1 is not None
    return [
        f"Alpha is {decimals(alpha)} although two votes on one criterion are the same in {percent(same)} of pairs: "
        f"{percent(share)} of all votes agree, and where nearly everybody agrees alpha comes out near zero, however well "
        f"the panel is at one. AC1, which does not do so, is {decimals(ac1)}. How well objections meet is in “both object”."
    ]


def open_sentence(count: int) -> str:
    """What is said of rounds that are not revealed: how many, nothing else."""
    if not count:
        return ""
    return f"{count:,} conversation{'' if count == 1 else 's'} still {'has' if count == 1 else 'have'} an open round: left out here."


def imported_sentence(figures: Figures) -> str:
    given = figures.agreed + figures.objected + figures.abstained + figures.recused
    if not figures.imported:
        return ""
    return f"{n_of_m(figures.imported, given)} votes of the first rounds were imported: taken elsewhere, and counted here."


# Tables


def rounds_table(report: Agreement) -> Table:
    """First and last rounds, of all criteria and of those voted on again."""
    notes = Notes()
    rows = [_row(HEADINGS[when], report.figures[when], notes) for when in When]
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
        return Row(name, [*cells, Cell("counts only", mark=notes.mark(TOO_FEW_CRITERIA), is_word=True, span=len(WORDS))])
    return Row(name, [*cells, *(cell_of(figures.coefficients[each], notes, each) for each in WORDS)])


def cell_of(number: Coefficient, notes: Notes, name: str = "") -> Cell:
    """A number, or why there is none."""
    if number.reason is not None:
        return Cell("undefined", mark=notes.mark(SENTENCES[number.reason]), is_word=True)
    assert number.value is not None
    return Cell(decimals(number.value, 1) if name == "weights" else decimals(number.value))


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
        over = n_of_m(*parts[name])
        is_known = share.value is not None
        cells.append(Cell(percent(share.value or 0), over) if is_known else cell_of(share, notes))
    difference = own.weight_difference
    if difference.value is None:
        return [*cells, cell_of(difference, notes)]
    return [*cells, Cell(with_sign(difference.value), f"over {own.weighed:,}")]


def with_sign(number: float) -> str:
    """+0.4, −0.4, 0.0."""
    rounded = round(number, 1)
    if not rounded:
        return "0.0"
    return f"{signed(1 if rounded > 0 else -1)[0]}{decimals(abs(rounded), 1)}"
