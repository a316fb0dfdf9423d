"""A policy of consensus in words: what it asks, what follows from it, and how it decides some plain cases.

The cases are decided by the rule itself (annotation.consensus), so that the page can't say anything else than it.
"""

from collections.abc import Collection
from dataclasses import dataclass

from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation import consensus
from annotation.consensus import ALL_CATEGORIES, Ballot, Decision
from annotation.models import Drafting, ObjectionCategory, Policy, Weights
from annotation.revealing import rule_of

PRESET_NAMES = {
    "three-agree": _("Three agree"),
    "two-of-three": _("Two of three, none contradicts"),
}


def policy_name(policy: Policy) -> str:
    """The name of the preset that it was made from, else that it is the study's own."""
    return str(PRESET_NAMES.get(policy.preset, _("The study's own rule")))


def policy_title(policy: Policy) -> str:
    """Its name and its version, as a sentence calls it: "Three agree, version 1"."""
    return gettext("{name}, version {number}").format(name=policy_name(policy), number=policy.version)


def policy_clauses(policy: Policy) -> list[str]:
    """What a criterion needs to be in consensus, one sentence a clause, in the rule's order."""
    reviewed, agreed, share = policy.min_reviewed, policy.min_agree, f"{float(policy.min_ratio):.0%}"
    return [
        ngettext(
            "At least 1 reviewer who did not write it agreed, objected or abstained, and at least {agreed} of them "
            "agreed.",
            "At least {reviewed} reviewers who did not write it agreed, objected or abstained, and at least {agreed} "
            "of them agreed.",
            reviewed,
        ).format(reviewed=reviewed, agreed=agreed),
        gettext("Of those who agreed or objected, at least {share} agreed.").format(share=share),
        _blocking(policy.blocks),
        gettext(
            "All who agreed want it, or all don't want it; and at least {share} of their weights lie within "
            "{tolerance} of the middle one, which becomes its points."
        ).format(share=share, tolerance=policy.points_tolerance),
    ]


def policy_consequences(policy: Policy) -> list[str]:
    """What follows for the panel, one sentence each."""
    return [
        _assigned(policy),
        gettext("Each drafts alone until drafting closes.")
        if policy.drafting == Drafting.ALONE
        else gettext("Reviewers see each other's drafts while they write."),
        gettext("Reviewers choose their own weight; the author's is hidden until the first reveal.")
        if policy.weights == Weights.OWN
        else gettext("Reviewers see the author's weight when they vote."),
        ngettext(
            "A conversation has one round; what is unsettled then has no consensus.",
            "A conversation has at most {rounds} rounds; what is unsettled then has no consensus.",
            policy.max_rounds,
        ).format(rounds=policy.max_rounds),
        gettext("With at least {count} objections and nobody agreeing, a criterion is out.").format(
            count=policy.min_reviewed
        ),
        gettext("After a reveal votes are shown with names.")
        if policy.names_shown_after_reveal
        else gettext("After a reveal votes are shown without names."),
    ]


def policy_changes(before: Policy, after: Policy) -> list[str]:
    """What another policy says otherwise, each as "before, then after"."""
    pairs = [
        *zip(policy_clauses(before), policy_clauses(after), strict=True),
        *zip(policy_consequences(before), policy_consequences(after), strict=True),
    ]
    told = gettext("{now} (Until now: {before}.)")
    return [told.format(now=new, before=old[0].lower() + old[1:].rstrip(".")) for old, new in pairs if old != new]


def _assigned(policy: Policy) -> str:
    """To how many a conversation goes, and how many of those who vote may be away."""
    count, others = policy.reviewers_per_conversation, policy.reviewers_per_conversation - 1
    spare = others - policy.min_reviewed
    if spare < 0:
        told = ngettext(
            "Each conversation is assigned to 1 reviewer, so that a criterion has {others} who did not write it: too "
            "few for this rule.",
            "Each conversation is assigned to {count} reviewers, so that a criterion has {others} who did not write "
            "it: too few for this rule.",
            count,
        )
    elif spare == 0:
        told = gettext(
            "Each conversation is assigned to {count} reviewers, so that a criterion has {others} who did not write "
            "it, none to spare."
        )
    else:
        told = ngettext(
            "Each conversation is assigned to {count} reviewers, so that a criterion has {others} who did not write "
            "it: 1 of them may be away.",
            "Each conversation is assigned to {count} reviewers, so that a criterion has {others} who did not write "
            "it: {spare} of them may be away.",
            spare,
        )
    return told.format(count=count, others=others, spare=spare)


def _blocking(blocks: Collection[str]) -> str:
    if not blocks:
        return gettext("No single objection blocks it.")
    if set(blocks) >= set(ALL_CATEGORIES):
        return gettext("Nobody objected, in whatever category.")
    *others, last = [str(ObjectionCategory(each).label) for each in ALL_CATEGORIES if each in blocks]
    listed = gettext("{others} or {last}").format(others=gettext(", ").join(others), last=last) if others else last
    return gettext("Nobody objected that it is {listed}.").format(listed=listed)


@dataclass(frozen=True, slots=True)
class Case:
    """Some votes in words, and what the policy finds for them."""

    votes: str
    decision: Decision


def worked_cases(policy: Policy) -> list[Case]:
    """How the policy decides some plain cases among as many reviewers as it assigns, without the writer."""
    rule = rule_of(policy)
    others = policy.reviewers_per_conversation - 1
    least = rule.min_agree
    cases: list[tuple[str, list[int | str]]] = [
        (gettext("{count} agree with +6").format(count=others), [6] * others),
        (gettext("{count} agree with +6, the others are silent").format(count=least), [6] * least),
        (gettext("{count} agree with +6, 1 abstains").format(count=others - 1), [*[6] * (others - 1), "abstain"]),
        (
            gettext("{count} agree with +6, 1 finds it ambiguous").format(count=others - 1),
            [*[6] * (others - 1), "ambiguous"],
        ),
        (gettext("{count} agree with +6, 1 finds it unsafe").format(count=others - 1), [*[6] * (others - 1), "unsafe"]),
        (gettext("{count} agree with +6, 1 with +10").format(count=others - 1), [*[6] * (others - 1), 10]),
        (gettext("{count} agree with +2, 1 with −2").format(count=others - 1), [*[2] * (others - 1), -2]),
        (gettext("{count} find it ambiguous").format(count=others), ["ambiguous"] * others),
    ]
    return [Case(words, _decided(rule, votes)) for words, votes in cases if len(votes) >= 1]


def _decided(rule: consensus.Rule, votes: list[int | str]) -> Decision:
    ballots = [_ballot(number, vote) for number, vote in enumerate(votes)]
    return consensus.decide(rule, writers=[], wording=0, eligible=range(len(ballots)), votes=ballots)


def _ballot(number: int, vote: int | str) -> Ballot:
    if isinstance(vote, int):
        return Ballot(number, 0, "agree", points=vote)
    return Ballot(number, 0, "abstain") if vote == "abstain" else Ballot(number, 0, "object", category=vote)
