"""What goes into the addresses of the site, and into the parameters that pages read of their query."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from django.urls import URLResolver, get_resolver

from annotation.acting_on_many import ROUND_ACTS
from annotation.api_votes import ReviewerAct
from annotation.models import ConversationReport, Membership
from annotation.opting_out import token_of
from annotation.raw_data import RAW_TABLES
from tests.worlds.scene import Scene


def known_values(scene: Scene) -> dict[str, list[Any]]:
    """What goes into the addresses, by the parameter's name, or by the address's name and the parameter's.

    Conversations and criteria with an open round: nothing hidden is about the others, which the lists show too.
    """
    formats = ["healthbench", "mentalhealthbench", "csv", "xlsx", "parquet"]
    files = ["conversations", "criteria", "votes", "members", "pilot_responses", "practice"]
    return {
        "slug": [scene.panel.study.slug],
        "conversation_id": [scene.conversations[name].id for name in ("one", "two")],
        "criterion_id": [scene.criteria[name].id for name in ("sleep", "meals")],
        "vote_id": [scene.objection.id],
        "example_id": [scene.example],
        "reviewer_id": [scene.panel.ben.id],
        "number": [1],
        "token": [token_of(scene.panel.ben)],
        "study_data_file kind": [*RAW_TABLES],
        "study_data_file format": ["csv"],
        "api_data_file kind": [*RAW_TABLES],
        "api_data_file file_format": ["parquet"],
        "membership_id": [Membership.objects.get(user=scene.panel.ben).id],
        "report_id": [ConversationReport.objects.get().id],
        "run_id": [scene.run.id],
        "grader_id": [scene.run.grader_id],
        "response_id": [scene.response],
        "version": ["1"],
        "address": ["1"],
        "format": formats,
        "file_format": formats,
        "step": ["start"],
        "kind": files,
        "take_in kind": ["responses", "verdicts"],
        "take_in_example kind": ["responses", "verdicts"],
        "act": [*ROUND_ACTS],
        "api_reviewer_act act": [*ReviewerAct.acts],
        "run_act act": ["pause", "resume", "cancel"],
        "api_run_act act": ["pause", "resume", "cancel"],
    }


def known_parameters(scene: Scene) -> dict[str, list[Any]]:
    """What is tried for each parameter that a page reads of its query, by its name, or by the address's and its.

    An empty list: read by the framework, or by every page alike, and of no study.
    """
    return {
        "page": ["2"],
        "page_size": ["1"],  # and then each next page
        "cursor": [],
        "format": [],
        "lang": [],
        "script": [],
        "api_schema version": [],
        "next": [],
        "any": [],
        "all": ["1"],
        "conversation": [scene.conversations["one"].id],
        "state": ["voting"],
        "study_progress state": ["voting", "out_of_reach"],
        "items": [""],
        "run state": ["queued"],
        "stage": ["voting", "out_of_reach"],
        "words": ["t"],
        "reviewer": [scene.panel.ben.id],
        "api_progress_conversations reviewer": [scene.panel.ben.email],
        "run_pairs reviewer": ["met"],
        "api_pairs reviewer": ["met"],
        "reviewers": ["5"],
        "preset": ["two-of-three"],
        "version": ["1"],
        "reason": ["open_round"],
        "run_unscored reason": ["unreadable"],
        "judged": ["1"],
        "criterion": [scene.criteria["helpline"].id],
        "run_pairs criterion": [scene.criteria["settled"].external_id],
        "api_pairs criterion": [scene.criteria["settled"].external_id],
        "after": [scene.criteria["sleep"].id],
        "practice after": [scene.example],
        "example": [scene.example],
        "again": ["1"],
        "go_on_judging after": known_values(scene)["response_id"],
        "wording": [scene.objection.id],
        "axis": [""],
        "grader": ["met"],
        "clinician": [scene.panel.dev.email],
        "differ": ["1"],
        "recused": ["1"],
        "from": [f"/studies/{scene.panel.study.slug}/"],
        "scheme": ["dark"],
        "width": ["narrow"],
    }


def _entries(resolver: URLResolver | None = None, above: tuple[str, ...] = ()) -> Iterator[tuple[str, list[str], Any]]:
    for entry in (resolver or get_resolver()).url_patterns:
        parameters = (*above, *entry.pattern.regex.groupindex)
        if isinstance(entry, URLResolver):
            yield from _entries(entry, parameters)
        else:
            yield entry.name or f"(without a name) {entry.pattern}", list(parameters), entry.callback


def every_address() -> Iterator[tuple[str, list[str]]]:
    """(name, names of its parameters) of each address that the resolver knows; what has no name is no address."""
    for name, parameters, _ in _entries():
        yield name, parameters


def every_act() -> Iterator[tuple[str, list[str], list[str]]]:
    """(name, names of its parameters, methods by which something may be sent there) of each address."""
    for name, parameters, view in _entries():
        its_class = getattr(view, "view_class", None) or getattr(view, "cls", None)
        methods = ["POST"] if its_class is None or not name.startswith("api_") else []
        if name.startswith("api_") and its_class is not None:
            methods = [method for method in ("POST", "PUT", "PATCH", "DELETE") if hasattr(its_class, method.lower())]
        yield name, parameters, methods


def fill_in(name: str, parameters: list[str], known: Mapping[str, list[Any]]) -> Iterator[dict[str, Any]]:
    """Every choice of known values for an address. KeyError: nobody has said what goes in there."""
    values = [known[f"{name} {this}"] if f"{name} {this}" in known else known[this] for this in parameters]
    for chosen in itertools.product(*values):
        yield dict(zip(parameters, chosen, strict=True))
