"""When the panel will be done, by its own pace: how many conversations were settled in the last four weeks.

Conversations settle one by one, so their number in a span of days is taken for a Poisson count. Its rate is n / days;
the interval of the rate is Garwood's exact one (Biometrika 1936), 90 %: from gamma's 5 % point of shape n to its 95 %
point of shape n + 1, each divided by the days. What is left, divided by the rate, is the days to go. A panel whose
votes were imported settles all at once and tells no pace: its conversations are not counted.
"""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Exists, Max, OuterRef, QuerySet, Subquery
from django.utils import timezone

from annotation.models import Conversation, Round, Study, Vote
from annotation.overseeing import Stage, with_stage

WINDOW = timedelta(days=28)
LEAST_SETTLED, LEAST_DAYS = 5, 7
"""Of fewer, or in less time, nothing is foretold."""
TOO_FAR = timedelta(days=365 * 10)


@dataclass(frozen=True, slots=True)
class Forecast:
    """``settled`` in so many ``days``; ``end`` None where too little is known. ``latest`` None: beyond ten years."""

    left: int
    settled: int
    days: int
    end: date | None = None
    earliest: date | None = None
    latest: date | None = None


def foretell(*, left: int, settled: int, observed: timedelta, now: datetime) -> Forecast:
    """The end by the pace of ``settled`` conversations in ``observed``; ``left`` are still to be settled."""
    days = max(0, observed.days)
    known = Forecast(left, settled, days)
    if not left or settled < LEAST_SETTLED or days < LEAST_DAYS:
        return known
    from scipy.special import gammaincinv  # takes its time to import

    slow, fast = float(gammaincinv(settled, 0.05)) / days, float(gammaincinv(settled + 1, 0.95)) / days
    end, latest = _after(now, left * days / settled), _after(now, left / slow)
    if end is None:
        return known
    return Forecast(left, settled, days, end, _after(now, left / fast), latest)


def _after(now: datetime, days: float) -> date | None:
    return None if days > TOO_FAR.days else (now + timedelta(days=days)).date()


def forecast_end(study: Study, *, left: int | None = None) -> Forecast:
    """When this study's own conversations will all be settled; ``left`` where it was counted already.

    Nothing of an open round is asked. One query, and one for ``left``.
    """
    now = timezone.now()
    own: QuerySet[Any, Any] = with_stage(Conversation.objects.own().filter(study=study))
    if left is None:
        left = own.exclude(stage=Stage.SETTLED).count()
    imported = Vote.objects.filter(round__conversation=OuterRef("pk"), imported_from__isnull=False)
    rounds = Round.objects.filter(conversation__study=study).order_by("opened_at")
    settled = (
        own.filter(~Exists(imported), stage=Stage.SETTLED)
        .annotate(last=Max("rounds__revealed_at"), started=Subquery(rounds.values("opened_at")[:1]))
        .filter(last__gte=now - WINDOW)
        .order_by()
        .values_list("last", "started")
    )
    found = list(settled)
    since = max(found[0][1], now - WINDOW) if found else now
    return foretell(left=left, settled=len(found), observed=now - since, now=now)
