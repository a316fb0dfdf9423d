"""When the panel will be done: the interval beside scipy's Poisson, what is not foretold, what is counted."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from annotation.forecasting import TOO_FAR, forecast_end, foretell
from annotation.models import FileImport, Round, Vote
from tests.factories import Panel, make_conversation, make_panel, make_voting, vote
from tests.pages import at, shown, signed_in
from tests.raw_sql import without_triggers

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


@given(st.integers(5, 500), st.integers(1, 1000), st.integers(7, 28))
@example(settled=5, left=652, days=28)  # 3,651 days: just too far to be told
@example(settled=5, left=651, days=28)
def test_the_interval_is_the_exact_one_of_a_poisson_count(settled: int, left: int, days: int) -> None:
    told = foretell(left=left, settled=settled, observed=timedelta(days=days), now=NOW)
    if told.end is None:
        assert left * days / settled > TOO_FAR.days
        return
    assert told.earliest is not None
    assert told.earliest <= told.end
    # at the slowest pace that is likely, so many or more come in 5 % of such spans; at the fastest, so many or fewer
    slow, fast = (stats.chi2.ppf(0.05, 2 * settled) / 2, stats.chi2.ppf(0.95, 2 * settled + 2) / 2)
    assert stats.poisson.sf(settled - 1, slow) == pytest.approx(0.05)
    assert stats.poisson.cdf(settled, fast) == pytest.approx(0.05)
    assert abs((told.earliest - NOW.date()).days - left * days / fast) <= 1
    if told.latest:
        assert abs((told.latest - NOW.date()).days - left * days / slow) <= 1


@pytest.mark.parametrize(("left", "settled", "days"), [(0, 20, 28), (10, 4, 28), (10, 20, 6), (10**9, 5, 28)])
def test_of_too_little_nothing_is_foretold(left: int, settled: int, days: int) -> None:
    told = foretell(left=left, settled=settled, observed=timedelta(days=days), now=NOW)
    assert (told.end, told.earliest, told.latest) == (None, None, None)


def _settle(panel: Panel, count: int, *, days_ago: int) -> None:
    for _ in range(count):
        _, (criterion,), held = make_voting(panel=panel)
        for reviewer in panel.reviewers:
            vote(criterion=criterion, reviewer=reviewer)
        when = timezone.now() - timedelta(days=days_ago)
        with without_triggers():
            Round.objects.filter(pk=held.pk).update(opened_at=when - timedelta(days=1), revealed_at=when)


@pytest.mark.django_db
def test_the_progress_page_and_the_api_tell_the_end_by_the_panels_pace() -> None:
    panel = make_panel()
    _settle(panel, 6, days_ago=20)
    for _ in range(3):
        make_conversation(study=panel.study)
    told = forecast_end(panel.study)
    assert (told.left, told.settled, told.days) == (3, 6, 21)
    assert told.end is not None
    assert (told.end - timezone.now().date()).days in {10, 11}
    page = shown(signed_in(panel.adam), at(panel.study, "study_progress"))
    assert "In the last 21 days 6 conversations were settled." in page
    answer = signed_in(panel.adam).get(at(panel.study, "api_progress")).json()
    assert answer["forecast"]["end"] == told.end.isoformat()


@pytest.mark.django_db
def test_what_was_settled_long_ago_or_by_imported_votes_tells_no_pace() -> None:
    panel = make_panel()
    _settle(panel, 6, days_ago=40)
    make_conversation(study=panel.study)
    assert forecast_end(panel.study).settled == 0
    _settle(panel, 6, days_ago=3)
    assert forecast_end(panel.study).settled == 6
    record = FileImport.objects.create(
        study=panel.study, kind="votes", file_name="v.csv", sha256="0" * 64, created=1, unchanged=0
    )
    with without_triggers():
        Vote.objects.update(imported_from=record)
    assert forecast_end(panel.study).settled == 0
    assert "not yet known" in shown(signed_in(panel.adam), at(panel.study, "study_progress"))
