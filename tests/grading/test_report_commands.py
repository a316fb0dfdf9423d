"""What the commands scores and agreement say in a terminal: every line within 100 columns, every number with its n."""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from grading.models import Respondent, Run
from grading.runs import start_run
from grading.terminal_tables import WIDTH, columns_of, cut, lay_out_table, wrapped
from tests.factories import join
from tests.grading.graded_runs import judge, judge_pairs, make_graded, make_larger, make_response

CSS = Path(__file__).resolve().parents[2] / "consilium" / "static" / "consilium" / "consilium.css"


def say(command: str, run: Run) -> str:
    out = StringIO()
    call_command(command, str(run.id), stdout=out)
    assert max(map(columns_of, out.getvalue().splitlines())) <= WIDTH
    return out.getvalue()


def test_widths_are_those_of_a_terminal() -> None:
    assert columns_of("\u6c34e\u0301") == 3
    assert cut("abcdef", 4) == "abc…"
    assert cut("\u6c34\u6c34\u6c34", 4) == "\u6c34…"
    assert max(map(columns_of, wrapped("word " * 100))) <= WIDTH
    heads, wide = lay_out_table(["Name", "n"], [["x" * 300, "7"]])[0::2]
    assert heads.endswith("  n")
    assert columns_of(wide) == WIDTH


@pytest.mark.django_db
def test_scores_in_a_terminal() -> None:
    graded = make_graded(verdicts="mmnmnu")
    words = say("scores", graded.run)
    assert "5 of 6 pairs are scored (83.3%)." in words
    assert re.search(r"model-a +0\.667 +0\.667 +1 of 1 +0\.667 to 0\.667 +3 of 3 +0 of 1", words)
    assert re.search(r"model-b +undefined a +undefined a +0 of 1 +0\.333 to 0\.667 +2 of 3 +0 of 1", words)
    assert re.search(r"Acuity not known +model-a +0\.667 +0\.667 +1 of 1", words)
    assert "a: No response that can be scored has all its criteria scored." in words


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("failed", "sentence"),
    [(1, "; 1 response failed and was not graded."), (2, "; 2 responses failed and were not graded.")],
)
def test_failed_responses_are_counted_in_words(failed: int, sentence: str) -> None:
    graded = make_graded()
    for number in range(failed):
        make_response(version=graded.version, respondent=f"silent-{number}", text=" ")
    run = start_run(study=graded.run.study, version=graded.version, grader=graded.grader, by=None)
    words = say("scores", run)
    assert sentence in " ".join(words.split())
    assert "Not graded yet." in words


@pytest.mark.django_db
def test_a_long_name_breaks_no_line() -> None:
    graded = make_graded()
    Respondent.objects.filter(name="model-a").update(name="model-" + "a" * 150)
    say("scores", graded.run)


@pytest.mark.django_db
def test_agreement_in_a_terminal_has_counts_where_pairs_are_few() -> None:
    graded = make_graded(verdicts="mmnmnu")
    judge(graded=graded, reviewer=graded.panel.ben, verdicts="mmnnnm")
    words = say("agreement", graded.run)
    assert "6 verdicts, 5 make a pair with a grade, from 1 conversation." in words
    assert "Said the same: 4 of 5 pairs." in words
    assert re.search(r"ben@example.org +5 of 6 +4 +– +– +– +– +0 of 0", words)


@pytest.mark.django_db
def test_agreement_in_a_terminal_has_coefficients_with_their_coverage() -> None:
    run, pairs = make_larger()
    for name in ("ben", "chloe"):
        judge_pairs(pairs=pairs, reviewer=join(study=run.study, name=name), verdicts="mmnmc")
    words = say("agreement", run)
    assert "48 verdicts, 40 make a pair with a grade, from 4 conversations." in " ".join(words.split())
    assert re.search(r"Kappa +0\.000", words)
    assert re.search(r"Accuracy +40 of 48 +30 +0\.000", words)


@pytest.mark.django_db
def test_the_chart_has_the_colours_of_either_scheme_and_leaves_too_few_out() -> None:
    from grading.agreement import report_agreement
    from grading.charts import COLOURS, Scheme, kappa_by_clinician, kappa_points

    tokens = dict(re.findall(r"--(\w+): light-dark\((#\w+, #\w+)\)", CSS.read_text()))
    for name in ("sheet", "ink", "quiet", "accent", "line"):
        assert tokens[name] == f"{getattr(COLOURS[Scheme.LIGHT], name)}, {getattr(COLOURS[Scheme.DARK], name)}"
    run, pairs = make_larger()
    judge_pairs(pairs=pairs, reviewer=join(study=run.study, name="ben"), verdicts="mmn")
    judge_pairs(pairs=pairs[:4], reviewer=join(study=run.study, name="chloe"), verdicts="mmn")
    report = report_agreement(run)
    assert [(row["clinician"], row["with"]) for row in kappa_points(report)] == [("Ben", "the grader")]
    light, dark = (kappa_by_clinician(report, scheme=scheme).decode() for scheme in Scheme)
    narrow = kappa_by_clinician(report, width="narrow").decode()
    assert 'fill="#1d282c"' in light
    assert 'fill="#1b2225"' in dark
    assert "#1d282c" not in dark
    for svg, width in ((light, 640), (narrow, 340)):
        found = re.search(r'<svg[^>]* width="(\d+)"', svg)
        assert found is not None
        assert abs(int(found[1]) - width) <= 2
