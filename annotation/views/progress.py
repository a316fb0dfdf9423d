"""The admin's progress page: where the study stands, who has finished, what waits, and the acts on conversations."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.acting_on_many import ROUND_ACTS, Done, RoundAct, act_on_each, would_act_on
from annotation.admin_forms import ProgressFilter
from annotation.caring_seen import care_of_study
from annotation.forecasting import forecast_end
from annotation.models import Conversation, Role, Study, User
from annotation.overseeing import Stage, conversations_to_oversee, count_stages, oversee, shares_of_reviewers
from annotation.permissions import StudyRequest, study_page
from annotation.policy_words import policy_title
from annotation.reaching import out_of_reach
from annotation.setting_up import missing_before_start
from annotation.states import CriterionState, count_states
from consilium.pages import respond_with_fragment, wants_fragment

CONVERSATIONS_A_PAGE = 50
MOST_AT_ONCE = 500
"""So many conversations are acted on by one press; a browser would not wait for thousands."""
NAMED = 10
"""So many conversations are named in a sentence, the others are counted."""


def counts_context(study: Study) -> dict[str, Any]:
    """Conversations and criteria by state, as the head of the page shows them."""
    counts, stages = count_states(study), count_stages(study)
    return {
        "conversation_counts": [(stage.value, stage.label, stages[stage]) for stage in Stage],
        "criterion_counts": [(state.label, counts["criteria"][state]) for state in CriterionState],
        "conversations_total": sum(stages.values()),
        "unsettled": sum(stages.values()) - stages[Stage.SETTLED],
        "criteria_total": sum(counts["criteria"].values()),
        "in_consensus": counts["criteria"][CriterionState.IN_CONSENSUS],
    }


def chosen_conversations(study: Study, form: ProgressFilter, unreachable: Collection[UUID] | None = None) -> Any:
    """The conversations that the filter names; all, where it can't be read."""
    data = form.cleaned_data if form.is_valid() else {}
    state = data.get("state") or ""
    reviewer: User | None = data.get("reviewer")
    rows = conversations_to_oversee(
        study,
        stage="" if state == "out_of_reach" else state,
        words=data.get("words") or "",
        reviewer=reviewer.pk if reviewer else None,
    )
    if state == "out_of_reach":
        ids = unreachable if unreachable is not None else {this.id for this in out_of_reach(study)}
        rows = rows.filter(id__in=ids)
    return rows


@require_GET
@study_page(Role.ADMIN)
def show_progress(request: StudyRequest) -> HttpResponse:
    """The study's progress; for htmx the list of conversations alone."""
    study = request.study
    unreachable = {this.id for this in out_of_reach(study)}
    form = ProgressFilter(request.GET or None, study=study)
    page = Paginator(chosen_conversations(study, form, unreachable), CONVERSATIONS_A_PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        "form": form,
        "page": page,
        "rows": oversee(study, page.object_list, out_of_reach=unreachable),
        "acts": list(ROUND_ACTS.values()),
    }
    if wants_fragment(request):
        return render(request, "annotation/admin/_conversations.html", context)
    counts = counts_context(study)
    context |= {
        **counts,
        "out_of_reach_count": len(unreachable),
        "shares": shares_of_reviewers(study),
        "policy_title": policy_title(study.policy),
        "missing": missing_before_start(study),
        "care": care_of_study(study),
        "forecast": forecast_end(study, left=counts["unsettled"]),
    }
    return render(request, "annotation/admin/progress.html", context)


@require_GET
@study_page(Role.ADMIN)
def show_counts(request: StudyRequest) -> HttpResponse:
    """The counts alone, which the progress page asks for again while it is open."""
    return respond_with_fragment(
        request,
        "annotation/admin/counts.html",
        "annotation/admin/_counts.html",
        counts_context(request.study),
    )


# Acts on many


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.ADMIN)
def act_on_conversations(request: StudyRequest, act: str) -> HttpResponse:
    """GET: what the act would do to the conversations chosen. POST: do it."""
    found = ROUND_ACTS.get(act)
    if found is None:
        raise Http404("There is no such act.")
    data = request.POST if request.method == "POST" else request.GET
    chosen = chosen_by(request.study, data)
    if request.method != "POST":
        return _ask(request, found, chosen, data)
    if len(chosen) > MOST_AT_ONCE:
        wanted = would_act_on(study=request.study, act=found, conversation_ids=[this.id for this in chosen])
        chosen = [this for this in chosen if this.id in wanted][:MOST_AT_ONCE]
    done = act_on_each(study=request.study, conversations=chosen, act=found, by=request.user)
    _say(request, found, done)
    if len(chosen) == 1:
        return redirect("admin_conversation", slug=request.study.slug, conversation_id=chosen[0].id)
    return redirect("study_progress", slug=request.study.slug)


def chosen_by(study: Study, data: Any) -> list[Conversation]:
    """The conversations ticked, or all that the filter names; someone else's are none of them."""
    if data.get("all"):
        return list(chosen_conversations(study, ProgressFilter(data, study=study)))
    ids = {found for value in data.getlist("conversation") if (found := _as_uuid(value))}
    return list(conversations_to_oversee(study).filter(id__in=ids))


def _as_uuid(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None


def _ask(request: StudyRequest, act: RoundAct, chosen: list[Conversation], data: Any) -> HttpResponse:
    wanted = would_act_on(study=request.study, act=act, conversation_ids=[this.id for this in chosen])
    acted_on = [this for this in chosen if this.id in wanted]
    context = {
        "act": act,
        "chosen": chosen,
        "acted_on": oversee(request.study, acted_on[:CONVERSATIONS_A_PAGE]),
        "acted_on_count": min(len(acted_on), MOST_AT_ONCE),
        "for_later_count": max(0, len(acted_on) - MOST_AT_ONCE),
        "passed_over_count": len(chosen) - len(acted_on),
        "all": data.get("all"),
        "filter": {name: data.get(name, "") for name in ("state", "reviewer", "words")},
        "crumbs": crumbs(request.study, "Progress", act.words),
    }
    return render(request, "annotation/admin/act.html", context)


def _say(request: StudyRequest, act: RoundAct, done: Done) -> None:
    if done.acted_on:
        count = len(done.acted_on)
        of = f"conversation {done.acted_on[0].external_id}" if count == 1 else f"{count:,} conversations"
        messages.success(request, f"{act.done} for {of}.")
    say_passed_over(request, done.passed_over)
    if not done.acted_on and not done.passed_over:
        messages.info(request, "No conversation was chosen, so nothing was done.")


def say_passed_over(request: StudyRequest, passed_over: Collection[tuple[Conversation, str]]) -> None:
    """Name the conversations that an act passed over, by the sentence why."""
    for sentence in dict.fromkeys(sentence for _, sentence in passed_over):
        refused = [this.external_id for this, why in passed_over if why == sentence]
        more = f" and {len(refused) - NAMED:,} more" if len(refused) > NAMED else ""
        messages.info(request, f"Passed over: {', '.join(refused[:NAMED])}{more}. {sentence}")


def crumbs(study: Study, *names: str) -> list[tuple[str, str]]:
    """The way to an admin's page: the study, then pages by name; the last is the page itself."""
    addresses = {
        "Progress": "study_progress",
        "Members": "study_members",
        "Imports": "study_imports",
        "Assign": "study_assign",
        "Waves": "study_waves",
        "Settings": "study_settings",
        "Policy": "study_policy",
    }
    way = [(study.name, reverse("study", kwargs={"slug": study.slug}))]
    way += [(name, reverse(addresses[name], kwargs={"slug": study.slug})) for name in names[:-1]]
    return [*way, (names[-1], "")]
