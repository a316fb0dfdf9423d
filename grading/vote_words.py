"""The agreement on votes as people read it: sentences, then tables; what has no value stands with its reason."""

from typing import Any

from django.utils.translation import gettext, gettext_noop, ngettext

from annotation.models import ObjectionCategory
from consilium.templatetags.consilium_text import decimals
from grading.own_votes import OwnReport, OwnVotes
from grading.report_cells import COUNTS_ONLY, Cell, Head, Notes, Row, Table, n_of_m
from grading.score_tables import axes_in_order, axis_words
from grading.statistics.undefined import Coefficient, Reason
from grading.told_again import reason_in_words
from grading.vote_agreement import FEWEST_PEOPLE, TOO_FEW_CRITERIA, TOO_FEW_PEOPLE, Agreement, Figures, When

NEARLY_ALL = 0.9
LOW = 0.4
"""From this share of agreeing votes on an alpha below this is said to be low for want of objections."""

WORDS = {
    "agree": gettext_noop("Both agree"),
    "object": gettext_noop("Both object"),
    "ac1": gettext_noop("AC1"),
    "alpha": gettext_noop("Alpha"),
    "observed": gettext_noop("Same vote"),
    "weights": gettext_noop("Weights apart"),
}
SENTENCES = {
    Reason.NO_PAIRS: gettext_noop("No criterion has the votes of two people that it takes."),
    Reason.SINGLE_CLASS: gettext_noop("Every vote is the same, so agreement beyond chance can't be told."),
    Reason.CLASS_ABSENT: gettext_noop("Nobody voted so."),
}
NO_MAJORITY = gettext_noop("There is no criterion on which you voted and most of the others did so.")
NO_WEIGHTS = gettext_noop("There is no criterion on which you and somebody else agreed.")
HEADINGS = {
    When.FIRST: gettext_noop("First round, before discussion"),
    When.LAST: gettext_noop("Last round"),
    When.AGAIN_FIRST: gettext_noop("Voted on again: first round"),
    When.AGAIN_LAST: gettext_noop("Voted on again: last round"),
}
ABOUT = gettext_noop(
    "Both agree: of the pairs of votes in which one person agrees, the share in which the other agrees too; both "
    "object likewise. Same vote: percent agreement. AC1 and alpha take chance away, in two ways. Weights apart: the "
    "median difference of two agreeing people's weights on one criterion, in points."
)


def percent(share: float) -> str:
    """97.4%, and never 100.0% or 0.0% of what is not all or nothing."""
    rounded = round(100 * share, 1)
    if share < 1 and rounded == 100:
        return gettext("more than {share}").format(share="99.9%")
    if share > 0 and rounded == 0:
        return gettext("less than {share}").format(share="0.1%")
    return f"{rounded:g}%"


def sentences(report: Agreement) -> list[str]:
    """The report in words: what there is, what the specific agreements say, how to read alpha."""
    figures = report.figures[When.FIRST]
    if not report.has_votes:
        return [gettext("No round is revealed yet in which somebody voted.")]
    if figures is None:
        few = gettext("Fewer than {people} people have votes that counted. {why}")
        return [few.format(people=FEWEST_PEOPLE, why=reason_in_words(TOO_FEW_PEOPLE))]
    if not figures.compared:
        return [gettext("No criterion has two votes that agree or object, so there is nothing to compare.")]
    if figures.is_too_few:
        few = gettext("Too few to conclude from. {why}")
        return [few.format(why=reason_in_words(TOO_FEW_CRITERIA))]
    return [_specific(figures), *_how_to_read_alpha(figures)]


def _specific(figures: Figures) -> str:
    agree, objecting = figures.coefficients["agree"].value, figures.coefficients["object"].value
    if agree is None:
        return gettext("Before discussion: everybody objected to everything.")
    if objecting is None:
        said = gettext(
            "Before discussion: where one clinician agrees, another agrees too in {agree} of pairs; nobody objected."
        )
        return said.format(agree=percent(agree))
    said = gettext(
        "Before discussion: where one clinician agrees, another agrees too in {agree} of pairs; where one objects, "
        "another objects too in {objecting}."
    )
    return said.format(agree=percent(agree), objecting=percent(objecting))


def _how_to_read_alpha(figures: Figures) -> list[str]:
    alpha, same, ac1 = (figures.coefficients[name].value for name in ("alpha", "observed", "ac1"))
    if alpha is None:
        said = gettext("All {votes} votes are the same. Alpha has no value then: it compares with chance.")
        return [said.format(votes=f"{figures.votes:,}")]
    share = figures.agreed / figures.votes
    if share < NEARLY_ALL or alpha >= LOW:
        return []
    assert same is not None
    assert ac1 is not None
    said = gettext(
        "Alpha is {alpha} although two votes on one criterion are the same in {same} of pairs: {share} of all votes "
        "agree, and where nearly everybody agrees alpha comes out low, near zero, however well the panel is at one. "
        "AC1, which does not, is {ac1}; how well objections meet, “both object” says."
    )
    return [said.format(alpha=decimals(alpha), same=percent(same), share=percent(share), ac1=decimals(ac1))]


def open_sentence(count: int) -> str:
    """What is said of rounds that are not revealed: of how many conversations, nothing else."""
    if not count:
        return ""
    return ngettext(
        "{number} conversation still has an open round, which is left out here.",
        "{number} conversations still have an open round, which is left out here.",
        count,
    ).format(number=f"{count:,}")


def own_open_sentence(count: int) -> str:
    """The same of one person's own conversations."""
    if not count:
        return ""
    return ngettext(
        "Of yours, {number} conversation still has an open round, which is left out here.",
        "Of yours, {number} conversations still have an open round, which is left out here.",
        count,
    ).format(number=f"{count:,}")


def imported_sentence(figures: Figures) -> str:
    given = figures.agreed + figures.objected + figures.abstained + figures.recused
    if not figures.imported:
        return ""
    said = gettext("{n} of {m} votes were imported: taken elsewhere, and counted here.")
    return said.format(n=f"{figures.imported:,}", m=f"{given:,}")


# Tables


def rounds_table(report: Agreement) -> Table:
    """First and last rounds, of all criteria and of those voted on again."""
    notes = Notes()
    shown = list(When) if report.voted_again else [When.FIRST]
    rows = [_row(gettext(HEADINGS[when]), report.figures[when], notes) for when in shown]
    heads = [gettext("Round"), *_heads()]
    return Table(
        "rounds", gettext("Before and after discussion"), [Head(text) for text in heads], rows, notes, gettext(ABOUT)
    )


def axes_table(report: Agreement, when: When) -> Table:
    """By axis. Axes that can't be told of are counted below."""
    notes, axes = Notes(), report.axes[when]
    order = axes_in_order(set(axes), report.study.axes)
    rows = [_row(axis_words(axis), axes[axis], notes) for axis in order]
    heads = [gettext("Axis"), *_heads()]
    left_out = report.left_out[when]
    about = ""
    if left_out:
        said = ngettext("{number} axis is left out. {why}", "{number} axes are left out. {why}", left_out)
        about = said.format(number=left_out, why=reason_in_words(TOO_FEW_PEOPLE))
    return Table(f"axes-{when}", gettext(HEADINGS[when]), [Head(text) for text in heads], rows, notes, about)


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
    heads = [Head(gettext("Category")), Head(gettext("First round")), Head(gettext("Last round"))]
    return Table("categories", gettext("Why clinicians objected: counts of objections"), heads, rows, notes)


def _count(number: int | None, notes: Notes) -> Cell:
    return _not_told(notes) if number is None else Cell(f"{number:,}")


def _not_told(notes: Notes, *, span: int = 1) -> Cell:
    return Cell(gettext("not told"), mark=notes.mark(reason_in_words(TOO_FEW_PEOPLE)), is_word=True, span=span)


def _heads() -> list[str]:
    """Of a table of agreement, behind the rows' names."""
    counts = [gettext("Criteria"), gettext("People"), gettext("Agree"), gettext("Object")]
    return [*counts, *map(gettext, WORDS.values())]


def _row(name: str, figures: Figures | None, notes: Notes) -> Row:
    if figures is None:
        return Row(name, [_not_told(notes, span=4 + len(WORDS))])
    counts = [figures.criteria, figures.people, figures.agreed, figures.objected]
    cells = [Cell(f"{number:,}") for number in counts]
    if figures.is_too_few:
        why = notes.mark(reason_in_words(TOO_FEW_CRITERIA))
        return Row(name, [*cells, Cell(gettext(COUNTS_ONLY), mark=why, is_word=True, span=len(WORDS))])
    return Row(name, [*cells, *(cell_of(figures.coefficients[each], notes, each) for each in WORDS)])


def cell_of(number: Coefficient, notes: Notes, name: str = "") -> Cell:
    """A number, or why there is none."""
    if number.reason is not None:
        return _undefined(SENTENCES[number.reason], notes)
    assert number.value is not None
    return Cell(decimals(number.value, 1) if name == "weights" else decimals(number.value))


def _undefined(sentence: str, notes: Notes) -> Cell:
    return Cell(gettext("undefined"), mark=notes.mark(gettext(sentence)), is_word=True)


# One person's own


def own_table(report: OwnReport) -> Table:
    """How often one person voted as most of the others did, and how much heavier the own weights are."""
    notes = Notes()
    rows = [Row(gettext(HEADINGS[when]), _own_cells(figures, notes)) for when, figures in report.figures.items()]
    heads = [gettext("Round"), gettext("Your votes"), gettext("As most others")]
    heads += [gettext("Where most agreed"), gettext("Where most objected"), gettext("Your weights")]
    about = gettext(
        "Most others: more than half of the two or more others who agreed or objected; without such a majority a "
        "criterion is not compared. Your weights: yours less the mean of the others', in points; plus is heavier, of "
        "what is wanted and of what is not."
    )
    return Table("own", gettext("Your votes beside the others'"), [Head(text) for text in heads], rows, notes, about)


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
    return [*cells, Cell(with_sign(difference), gettext("over {n}").format(n=f"{own.weighed:,}"))]


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
