"""Criteria on which a panel has voted, revealed, for the tests of the agreement on votes."""

from annotation.assigning import assign_reviewer
from annotation.models import Criterion, User
from annotation.round_acts import close_drafting, close_round
from tests.factories import Panel, draft, join, make_conversation, vote


def names_of(panel: Panel) -> list[str]:
    """Six clinicians who vote beside ana, who writes: enough to be told of, also without one of them."""
    people = [*panel.reviewers, join(study=panel.study, name="femi"), join(study=panel.study, name="gwen")]
    return [person.email.split("@")[0] for person in people]


def vote_all(
    panel: Panel, choices: dict[str, str], *, external_id: str, axis: str = "", weights: dict[str, int] | None = None
) -> Criterion:
    """A conversation with one criterion by ana, on which those named vote, and are revealed with the last vote."""
    conversation = make_conversation(study=panel.study, external_id=external_id)
    people = {name: User.objects.get(email=f"{name}@example.org") for name in choices}
    for person in (panel.ana, *people.values()):
        assign_reviewer(conversation=conversation, reviewer=person)
    criterion = draft(conversation=conversation, writer=panel.ana, axis=axis)
    close_drafting(conversation=conversation, by=panel.adam)
    for name, choice in choices.items():
        points = (weights or {}).get(name, 6)
        vote(criterion=criterion, reviewer=people[name], choice=choice, points=points)
    if conversation.rounds.get().revealed_at is None:
        close_round(conversation=conversation, by=panel.adam)
    return criterion
