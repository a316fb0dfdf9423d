"""Loading the demo study: invented conversations, criteria, votes, one frozen version, responses and verdicts.

It goes through the same acts as any study, in the order in which a panel works, in one transaction: all of it is
there, or nothing. Enough is left open that a newcomer can draft, vote, freeze and grade.
"""

import io
import json
from collections.abc import Iterable
from typing import Any

from django.db import transaction

from annotation.assigning import assign_reviewer
from annotation.demo import FOLDER, demo_study, read_fixture
from annotation.discussing import end_discussion
from annotation.drafting import finish_drafting, revise_criterion
from annotation.importing.criteria import import_criteria
from annotation.importing.pilot_responses import import_pilot_responses
from annotation.importing.practice import import_practice
from annotation.importing.votes import import_votes
from annotation.joining import accept_consent, add_member, create_study, find_person
from annotation.models import Conversation, Criterion, Membership, Study, User
from annotation.round_acts import open_round
from annotation.states import ConversationState, with_conversation_state
from consilium.errors import RuleViolation
from grading.importing.responses import import_responses
from grading.importing.verdicts import import_verdicts
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from rubrics.importing import import_conversations


class DemoIsLoaded(RuleViolation):
    """The demo study is loaded already."""


class DemoIsBroken(RuleViolation):
    """The demo's file {name} can't be taken in: line {line}, {message}"""


def load_demo() -> Study:
    """Load the demo study. Raises DemoIsLoaded where it is there."""
    if demo_study() is not None:
        raise DemoIsLoaded
    facts: dict[str, Any] = read_fixture("study.json")
    with transaction.atomic():
        study = create_study(
            slug=facts["slug"],
            name=facts["name"],
            preset=facts["policy"],
            text_class=facts["text_class"],
            guidelines=facts["guidelines"],
            what_to_expect=facts["what_to_expect"],
            support_contact=facts["support_contact"],
            consent_text=facts["consent_text"],
            axes=facts["axes"],
            languages=facts["languages"],
        )
        _add_people(study, newcomers={person["email"] for person in _newcomers(facts)})
        _take_in(import_practice, study, "practice.jsonl")
        _take_in(import_conversations, study, "conversations.jsonl")
        for external_id, emails in read_fixture("assignments.json").items():
            for email in emails:
                assign_reviewer(conversation=_conversation(study, external_id), reviewer=_person(email))
        _take_in(import_pilot_responses, study, "pilot_responses.jsonl")
        _take_in(import_criteria, study, "drafts.jsonl", keep_drafting=True)
        _take_in(import_criteria, study, "criteria.jsonl")
        for external_id, emails in facts["finished_drafting"].items():
            for email in emails:
                finish_drafting(conversation=_conversation(study, external_id), by=_person(email))
        first, later = _votes_by_version(study, facts)
        _take_in(import_votes, study, "votes.jsonl", rows=first)
        _second_round(study)
        freeze_version(
            study=study,
            by=_person(facts["demo_admin"]),
            note=facts["version_1_note"],
            acknowledged=ACKNOWLEDGE_ALL,
        )
        _take_in(import_votes, study, "votes.jsonl", rows=later)
        _take_in(import_responses, study, "responses.jsonl")
        _take_in(import_verdicts, study, "verdicts.jsonl")
        _leave_the_discussions(study, _person(facts["demo_clinician"]))
    return study


def _leave_the_discussions(study: Study, newcomer: User) -> None:
    """The demo's clinician meets a vote first, and comes to a discussion by casting the last one of a round."""
    own = Conversation.objects.own().filter(study=study, assignments__reviewer=newcomer)
    for conversation in with_conversation_state(own):
        if conversation.state == ConversationState.REVEALED:
            end_discussion(conversation=conversation, by=newcomer)


def _newcomers(facts: dict[str, Any]) -> list[dict[str, Any]]:
    """Who meets the consent page at the first sign-in."""
    return [person for person in read_fixture("people.json") if person["email"] == facts["demo_clinician"]]


def _add_people(study: Study, *, newcomers: set[str]) -> None:
    for person in read_fixture("people.json"):
        membership: Membership = add_member(
            study=study,
            email=person["email"],
            roles=person["roles"],
            name=person["name"],
            languages=person["languages"],
            country=person["country"],
            profession=person["profession"],
            speciality=person["speciality"],
        )
        if person["email"] not in newcomers:
            accept_consent(study=study, person=membership.user)


def _person(email: str) -> User:
    person = find_person(email)
    assert person is not None, email
    return person


def _conversation(study: Study, external_id: str) -> Conversation:
    return Conversation.objects.own().get(study=study, external_id=external_id)


def _take_in(
    act: Any, study: Study, name: str, *, rows: Iterable[dict[str, Any]] | None = None, **options: Any
) -> None:
    """Import one of the demo's files, or some of its rows."""
    source: Any = FOLDER / name
    if rows is not None:
        source = io.BytesIO("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
    report = act(study=study, source=source, file_name=name, by=None, check=False, **options)
    if report.errors:
        problem = report.errors[0]
        raise DemoIsBroken(name=name, line=problem.line, message=problem.message)


def _votes_by_version(study: Study, facts: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The votes cast before version 1 was frozen, and those after."""
    first = set(facts["version_1_conversations"])
    of = dict(Criterion.objects.filter(study=study).values_list("external_id", "conversation__external_id"))
    rows = [json.loads(line) for line in (FOLDER / "votes.jsonl").read_text(encoding="utf-8").splitlines()]
    return (
        [row for row in rows if of[row["criterion_id"]] in first],
        [row for row in rows if of[row["criterion_id"]] not in first],
    )


def _second_round(study: Study) -> None:
    """An objection was accepted: the revision, a second round, its votes."""
    reopened = set()
    for row in read_fixture("revisions.json"):
        criterion = Criterion.objects.select_related("current_revision", "conversation__study", "study").get(
            study=study, external_id=row["criterion_id"]
        )
        current = criterion.current_revision
        assert current is not None
        revise_criterion(
            criterion=criterion,
            against=current,
            by=_person(row["by"]),
            text=row["text"],
            points=current.points,
            axis=current.axis,
            rationale=row["rationale"],
            anchors=current.anchors,
        )
        reopened.add(criterion.conversation_id)
    for conversation in Conversation.objects.filter(id__in=reopened):
        open_round(conversation=conversation, by=None)
    _take_in(import_votes, study, "votes_round2.jsonl")
