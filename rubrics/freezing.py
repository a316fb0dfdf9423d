"""Freezing: every criterion in consensus becomes part of version n, in one transaction that no vote can slip into.

The study is held alone first, then what is due is settled, then rubrics.selecting says what goes in. Written are
texts, points, axes, scales, the votes that carried each criterion (by the person's id, never the name), the policy,
the note, who and when, and what stayed out and why. Nothing of it ever changes; a version can be marked withdrawn.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.db.models import Min
from psycopg.types.json import Jsonb

from annotation.locks import hold_study
from annotation.models import Conversation, Policy, Study, User, Vote
from annotation.rounds import settle
from consilium.canonical import sha256_hex
from consilium.errors import RuleViolation, violated_constraint
from rubrics import digests
from rubrics.cautions import Cautions, cautions_of
from rubrics.comparing import Change, stands_of, what_changed
from rubrics.copying import copy_rows, copy_values
from rubrics.finding import newest_own_version
from rubrics.incoming import NOT_FOR_PUBLIC_TEXT, with_own_facts
from rubrics.models import (
    FrozenConversation,
    FrozenCriterion,
    FrozenLeftOut,
    FrozenVote,
    RubricVersion,
    WithdrawalEvent,
)
from rubrics.selecting import Selection, StaysOut, select


class NothingInConsensus(RuleViolation):
    """No criterion can be frozen: none is in consensus in a conversation without an open round, or all stay out."""


class NothingChangedSince(RuleViolation):
    """Nothing changed since version {number}."""


class NotAcknowledged(RuleViolation):
    """Criteria that stay out are to be acknowledged one by one first: {criteria}."""

    def __init__(self, missing: list[StaysOut]) -> None:
        names = [this.criterion.external_id for this in missing]
        shown = names if len(names) <= 10 else [*names[:10], f"and {len(names) - 10:,} more"]
        super().__init__(criteria=", ".join(shown))
        self.missing = missing
        self.facts = {"missing": names}


class FrozenInThisMoment(RuleViolation):
    """Somebody else froze a version in this moment. Look at it first."""


class ChangedSinceSeen(RuleViolation):
    """Something changed since you looked: look again at what goes in and what stays out."""


class WithdrawalNeedsAReason(RuleViolation):
    """A version is withdrawn with a reason, which its readers see."""


class AlreadyWithdrawn(RuleViolation):
    """This version is withdrawn already."""


class AcknowledgeAll:
    """Acknowledges whatever the page would ask about: how the command freezes, and says so."""


ACKNOWLEDGE_ALL = AcknowledgeAll()


# What a freeze writes of each, in this order; the other columns are null.
CRITERION_COLUMNS = (
    *("id", "version_id", "frozen_conversation_id", "criterion_id", "revision_id", "wording_id", "external_id"),
    *("text", "points", "axis", "scale", "levels", "rationale", "extra"),
    *("position", "round_number", "sentence", "item_sha256"),
)
VOTE_COLUMNS = (
    *("id", "criterion_id", "person", "choice", "points", "category", "reason"),
    *("round_number", "item_sha256"),
)
LEFT_OUT_COLUMNS = ("id", "version_id", "criterion_id", "kind", "reason", "is_acknowledged")


@dataclass(frozen=True, slots=True)
class Preview:
    """What an admin sees before freezing: what goes in and stays out, what changed since the newest version, and what
    is to be read before.
    """

    selection: Selection
    newest: RubricVersion | None
    changes: list[Change]
    cautions: Cautions


def preview_freeze(*, study: Study, leave_out: Mapping[UUID, str] | None = None) -> Preview:
    """Answer what a freeze would do now. Nothing is locked or written: a freeze decides anew."""
    selection = select(study=study, leave_out=leave_out)
    newest = newest_own_version(study)
    before = stands_of(newest) if newest else {}
    changes = what_changed(before, stands_of(selection))
    return Preview(selection, newest, changes, cautions_of(selection))


def mark_of(selection: Selection) -> str:
    """A mark of what goes in and what stays out, as it is shown: another one means that something moved."""
    lines = [f"{this.criterion.id} {this.criterion.revision_id} {this.points}" for this in selection.goes_in]
    lines += [f"{this.criterion.id} {this.kind}" for this in selection.stays_out]
    return sha256_hex("\n".join(sorted(lines)).encode())


def freeze_version(
    *,
    study: Study,
    by: User | None,
    note: str = "",
    leave_out: Mapping[UUID, str] | None = None,
    acknowledged: Collection[UUID] | AcknowledgeAll = (),
    seen: str | None = None,
) -> RubricVersion:
    """Freeze the study's next version, numbered 1, 2, 3 without gaps.

    ``leave_out`` names criteria with a reason each; ``acknowledged`` those that an admin has seen staying out, and
    ``seen`` is the mark of what was shown (None: nothing was). Raises ChangedSinceSeen, NotAcknowledged with those
    missing, NothingInConsensus, NothingChangedSince, and what ``select`` raises.
    """
    try:
        with transaction.atomic():
            hold_study(study.id)
            settle(study)
            selection = select(study=study, leave_out=leave_out)
            if seen is not None and seen != mark_of(selection):
                raise ChangedSinceSeen
            missing = [
                this
                for this in selection.to_acknowledge
                if not isinstance(acknowledged, AcknowledgeAll) and this.criterion.id not in acknowledged
            ]
            if missing:
                raise NotAcknowledged(missing)
            if not selection.goes_in:
                raise NothingInConsensus
            return _Freeze(study, selection, by=by, note=note).write()
    except IntegrityError as error:
        if violated_constraint(error) == "versions_are_numbered":
            raise FrozenInThisMoment from error
        raise


class _Freeze:
    """One freeze, under the study's lock: hashes first, then the version, then its rows."""

    def __init__(self, study: Study, selection: Selection, *, by: User | None, note: str) -> None:
        self.study, self.selection = study, selection
        self.facts = policy_facts_of(selection.policy)
        self.conversations = self._conversations()
        self.frozen_conversations = {this.conversation_id: this for this in self.conversations}
        self.criterion_ids = [uuid4() for _ in selection.goes_in]
        self.criterion_hashes = [self._criterion_sha256(index) for index in range(len(selection.goes_in))]
        self.version = RubricVersion(
            study=study,
            kind=RubricVersion.Kind.CONSENSUS,
            axes=list(dict.fromkeys([*study.axes, *(this.criterion.axis for this in selection.goes_in)])),
            policy=selection.policy,
            note=note,
            policy_sha256=digests.policy_sha256(self.facts),
            note_sha256=digests.note_sha256(note),
            canary_string=study.canary_string,
            criteria_count=len(selection.goes_in),
            conversations_count=len(self.conversations),
            frozen_by=by,
        )

    def write(self) -> RubricVersion:
        version, newest = self.version, newest_own_version(self.study)
        items = [this.item_sha256 for this in self.conversations] + self.criterion_hashes
        version.digest = digests.digest_of(items)
        if newest is not None and newest.digest == version.digest:
            raise NothingChangedSince(number=newest.number)
        version.number = (newest.number or 0) + 1 if newest else 1
        version.axes = [axis for axis in version.axes if axis]
        version.is_threshold_set_after_votes = is_set_after_votes(self.selection.policy)
        votes = list(self._votes())
        version.record_digest = digests.record_digest_of(
            digest=version.digest,
            votes=[vote[-1] for vote in votes],
            policy=version.policy_sha256,
            note=version.note_sha256,
        )
        version.save(force_insert=True)
        for this in self.conversations:
            this.version_id = version.id
        copy_rows(self.conversations)
        copy_values(FrozenCriterion, CRITERION_COLUMNS, self._criteria())
        copy_values(FrozenVote, VOTE_COLUMNS, votes)
        copy_values(FrozenLeftOut, LEFT_OUT_COLUMNS, self._left_out())
        return version

    def _conversations(self) -> list[FrozenConversation]:
        """The conversations of the criteria that go in, in reading order, each with its hash."""
        wanted = dict.fromkeys(this.place.id for this in self.selection.goes_in)
        rows = Conversation.objects.own().filter(study=self.study)
        found = {this.id: this for this in rows.iterator(chunk_size=1000) if this.id in wanted}
        return [self._conversation(found[key], position) for position, key in enumerate(wanted)]

    def _conversation(self, this: Conversation, position: int) -> FrozenConversation:
        return FrozenConversation(
            conversation_id=this.id,
            external_id=this.external_id,
            messages=this.messages,
            language=this.language,
            country=this.country,
            acuity=this.acuity,
            user_profile=this.user_profile,
            has_prior_context=this.has_prior_context,
            tags=this.tags,
            source=this.source,
            canary_string=this.canary_string,
            extra=self._extra(this.extra),
            position=position,
            item_sha256=digests.conversation_sha256(conversation_id=this.external_id, messages=this.messages),
        )

    def _extra(self, extra: str) -> str:
        """A conversation's other keys, and that it is not for public text where the study is so now."""
        return with_own_facts(extra, **{NOT_FOR_PUBLIC_TEXT: True}) if self.study.is_not_for_public_text else extra

    def _criterion_sha256(self, index: int) -> str:
        this = self.selection.goes_in[index]
        return digests.criterion_sha256(
            conversation_id=this.place.external_id,
            text=this.criterion.text,
            points=this.points,
            axis=this.criterion.axis,
            scale=this.criterion.scale,
            levels=this.criterion.levels,
        )

    def _criteria(self) -> Iterator[tuple[Any, ...]]:
        """The rows of ``CRITERION_COLUMNS``."""
        for position, this in enumerate(self.selection.goes_in):
            criterion = this.criterion
            yield (
                self.criterion_ids[position],
                self.version.id,
                self.frozen_conversations[criterion.conversation_id].id,
                criterion.id,
                criterion.revision_id,
                criterion.wording_id,
                criterion.external_id,
                criterion.text,
                this.points,
                criterion.axis,
                criterion.scale,
                None if criterion.levels is None else Jsonb(criterion.levels),
                criterion.rationale,
                criterion.extra,
                position,
                this.round_number,
                this.sentence,
                self.criterion_hashes[position],
            )

    def _votes(self) -> Iterator[tuple[Any, ...]]:
        """The rows of ``VOTE_COLUMNS``: there may be hundreds of thousands."""
        for this, criterion_id, criterion_sha256 in zip(
            self.selection.goes_in, self.criterion_ids, self.criterion_hashes, strict=True
        ):
            number = this.round_number
            for vote in this.votes:
                sha256 = digests.vote_sha256(
                    criterion=criterion_sha256,
                    person=str(vote.person),
                    choice=vote.choice,
                    points=vote.points,
                    category=vote.category,
                    reason=vote.reason,
                    round_number=number,
                )
                cast = vote.person, vote.choice, vote.points, vote.category, vote.reason
                yield uuid4(), criterion_id, *cast, number, sha256

    def _left_out(self) -> Iterator[tuple[Any, ...]]:
        """The rows of ``LEFT_OUT_COLUMNS``."""
        for this in self.selection.stays_out:
            yield uuid4(), self.version.id, this.criterion.id, this.kind.value, this.reason, this.must_be_acknowledged


def policy_facts_of(policy: Policy) -> dict[str, object]:
    """Answer a policy as its hash is taken over (rubrics.digests) and as exports carry it."""
    return digests.policy_facts(
        version=policy.version,
        min_reviewed=policy.min_reviewed,
        min_agree=policy.min_agree,
        min_ratio=policy.min_ratio,
        points_tolerance=policy.points_tolerance,
        blocks=policy.blocks,
        max_rounds=policy.max_rounds,
        reviewers_per_conversation=policy.reviewers_per_conversation,
        drafting=policy.drafting,
        weights=policy.weights,
        names_shown_after_reveal=policy.names_shown_after_reveal,
    )


def is_set_after_votes(policy: Policy) -> bool:
    """Whether a policy was made after the first vote of its study: its threshold may have been chosen to fit.

    Votes of an open round don't count: nobody could fit a threshold to them, and a version would tell of their time.
    """
    votes = Vote.objects.filter(round__conversation__study=policy.study_id, round__revealed_at__isnull=False)
    first = votes.aggregate(at=Min("cast_at"))["at"]
    return first is not None and policy.created_at > first


def withdraw_version(*, version: RubricVersion, by: User | None, reason: str) -> WithdrawalEvent:
    """Mark a version as withdrawn, with a reason that its readers see; the version itself stays as it was."""
    if not reason.strip():
        raise WithdrawalNeedsAReason
    try:
        with transaction.atomic():
            return WithdrawalEvent.objects.create(version=version, reason=reason.strip(), withdrawn_by=by)
    except IntegrityError as error:
        if violated_constraint(error) == "a_version_is_withdrawn_once":
            raise AlreadyWithdrawn from error
        raise
