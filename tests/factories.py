"""Plain functions that make what tests need. All keyword-only; the cast has roles.

ana, ben, chloe, dev: clinicians; adam: admin; rita: researcher; oscar: in no study.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.assigning import assign_reviewer
from annotation.drafting import draft_criterion
from annotation.joining import add_member, create_study
from annotation.models import Conversation, Criterion, Revision, Round, Study, User, Vote
from annotation.round_acts import close_drafting
from annotation.voting import Ballot, cast_vote
from consilium.canonical import canonical_line, sha256_hex

_numbers = itertools.count(1)


def make_study(*, slug: str = "", preset: str = "three-agree", **facts: object) -> Study:
    slug = slug or f"study-{next(_numbers)}"
    return create_study(slug=slug, name=slug.replace("-", " ").title(), preset=preset, **facts)  # type: ignore[arg-type]


def make_person(*, name: str, **facts: object) -> User:
    email = f"{name}@example.org"
    found = User.objects.filter(email__iexact=email).first()
    return found or User.objects.create_user(email, name=name.title(), **facts)


def join(*, study: Study, name: str, role: str = "clinician", languages: Sequence[str] = ()) -> User:
    return add_member(
        study=study, email=f"{name}@example.org", roles=[role], name=name.title(), languages=languages
    ).user


def make_conversation(
    *, study: Study, external_id: str = "", text: str = "I can't sleep.", **facts: object
) -> Conversation:
    messages = facts.pop("messages", None) or [{"role": "user", "content": text}]
    external_id = external_id or f"conversation-{next(_numbers)}"
    return Conversation.objects.create(
        study=study,
        external_id=external_id,
        messages=messages,
        item_sha256=sha256_hex(canonical_line({"id": external_id, "messages": messages})),
        **facts,
    )


def draft(
    *,
    conversation: Conversation,
    writer: User,
    text: str = "Asks about sleep.",
    points: int = 6,
    axis: str = "",
) -> Criterion:
    return draft_criterion(conversation=conversation, writer=writer, text=text, points=points, axis=axis)


def current(criterion: Criterion) -> Revision:
    """The criterion's revision in force, as the database has it now."""
    found = Criterion.objects.select_related("current_revision").get(pk=criterion.pk).current_revision
    assert found is not None
    return found


def vote(
    *,
    criterion: Criterion,
    reviewer: User,
    choice: str = "agree",
    points: int | None = 6,
    category: str = "ambiguous",
    reason: str = "Could be read in two ways.",
) -> Vote:
    criterion = Criterion.objects.select_related("current_revision", "study").get(pk=criterion.pk)
    assert criterion.current_revision is not None
    is_object = choice == "object"
    return cast_vote(
        criterion=criterion,
        seen=criterion.current_revision,
        reviewer=reviewer,
        ballot=Ballot(
            Vote.Choice(choice),
            points=points if choice == "agree" else None,
            category=category if is_object else "",
            reason=reason if is_object else "",
        ),
    )


@dataclass
class Panel:
    """A study with its cast: ana writes, ben, chloe, dev and eva review with her; adam and rita; oscar outside."""

    study: Study
    ana: User
    ben: User
    chloe: User
    dev: User
    eva: User
    adam: User
    rita: User
    oscar: User

    @property
    def reviewers(self) -> list[User]:
        return [self.ben, self.chloe, self.dev, self.eva]


def make_panel(*, slug: str = "", preset: str = "three-agree", **facts: object) -> Panel:
    study = make_study(slug=slug, preset=preset, **facts)
    people = {name: join(study=study, name=name) for name in ("ana", "ben", "chloe", "dev", "eva")}
    return Panel(
        study=study,
        adam=join(study=study, name="adam", role="admin"),
        rita=join(study=study, name="rita", role="researcher"),
        oscar=make_person(name="oscar"),
        **people,
    )


def make_voting(
    *, panel: Panel, texts: Sequence[str] = ("Asks about sleep.",), points: int = 6, **facts: Any
) -> tuple[Conversation, list[Criterion], Round]:
    """A conversation reviewed by the whole panel, with criteria by ana, in round 1."""
    conversation = make_conversation(study=panel.study, **facts)
    for reviewer in [panel.ana, *panel.reviewers]:
        assign_reviewer(conversation=conversation, reviewer=reviewer)
    criteria = [draft(conversation=conversation, writer=panel.ana, text=text, points=points) for text in texts]
    close_drafting(conversation=conversation, by=panel.adam)
    return conversation, criteria, conversation.rounds.get()
