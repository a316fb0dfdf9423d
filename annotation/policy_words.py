"""A policy of consensus in words: what it asks, what follows from it, and how it decides some plain cases.

The cases are decided by the rule itself (annotation.consensus), so that the page can't say anything else than it.
"""

from collections.abc import Collection
from dataclasses import dataclass

from annotation import consensus
from annotation.consensus import ALL_CATEGORIES, Ballot, Decision
from annotation.models import Drafting, ObjectionCategory, Policy, Weights
from annotation.revealing import rule_of

PRESET_NAMES = {
    "three-agree": "Three agree",
    "two-of-three": "Two of three, none contradicts",
}


def policy_name(policy: Policy) -> str:
    """The name of the preset that it was made from, else that it is the study's own."""
    return PRESET_NAMES.get(policy.preset, "The study's own rule")


def policy_title(policy: Policy) -> str:
    """Its name and its version, as a sentence calls it: "Three agree, version 1"."""
    return f"{policy_name(policy)}, version {policy.version}"


def policy_clauses(policy: Policy) -> list[str]:
    """What a criterion needs to be in consensus, one sentence a clause, in the rule's order."""
    reviewed, agreed, share = policy.min_reviewed, policy.min_agree, f"{float(policy.min_ratio):.0%}"
    return [
        f"At least {_people(reviewed)} who did not write it agreed, objected or abstained, and at least "
        f"{agreed} of them agreed.",
        f"Of those who agreed or objected, at least {share} agreed.",
        _blocking(policy.blocks),
        f"All who agreed want it, or all don't want it; and at least {share} of their weights lie within "
        f"{policy.points_tolerance} of the middle one, which becomes its points.",
    ]


def policy_consequences(policy: Policy) -> list[str]:
    """What follows for the panel, one sentence each."""
    others = policy.reviewers_per_conversation - 1
    spare = others - policy.min_reviewed
    return [
        f"Each conversation is assigned to {_people(policy.reviewers_per_conversation)}, so that a criterion has "
        f"{others} who did not write it{_spared(spare)}.",
        "Each drafts alone until drafting closes."
        if policy.drafting == Drafting.ALONE
        else "Reviewers see each other's drafts while they write.",
        "Reviewers choose their own weight; the author's is hidden until the first reveal."
        if policy.weights == Weights.OWN
        else "Reviewers see the author's weight when they vote.",
        f"A conversation has at most {policy.max_rounds} rounds; what is unsettled then has no consensus."
        if policy.max_rounds != 1
        else "A conversation has one round; what is unsettled then has no consensus.",
        f"With at least {policy.min_reviewed} objections and nobody agreeing, a criterion is out.",
        "After a reveal votes are shown with names."
        if policy.names_shown_after_reveal
        else "After a reveal votes are shown without names.",
    ]


def policy_changes(before: Policy, after: Policy) -> list[str]:
    """What another policy says otherwise, each as "before, then after"."""
    pairs = [
        *zip(policy_clauses(before), policy_clauses(after), strict=True),
        *zip(policy_consequences(before), policy_consequences(after), strict=True),
    ]
    return [f"{new} (Until now: {old[0].lower()}{old[1:].rstrip('.')}.)" for old, new in pairs if old != new]


def _people(count: int) -> str:
    return "1 reviewer" if count == 1 else f"{count} reviewers"


def _spared(spare: int) -> str:
    if spare < 0:
        return ": too few for this rule"
    if spare == 0:
        return ", none to spare"
    return ": 1 of them may be away" if spare == 1 else f": {spare} of them may be away"


def _blocking(blocks: Collection[str]) -> str:
    if not blocks:
        return "No single objection blocks it."
    if set(blocks) >= set(ALL_CATEGORIES):
        return "Nobody objected, in whatever category."
    names = [ObjectionCategory(each).label for each in ALL_CATEGORIES if each in blocks]
    listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
    return f"Nobody objected that it is {listed}."


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
        (f"{others} agree with +6", [6] * others),
        (f"{least} agree with +6, the others are silent", [6] * least),
        (f"{others - 1} agree with +6, 1 abstains", [*[6] * (others - 1), "abstain"]),
        (f"{others - 1} agree with +6, 1 finds it ambiguous", [*[6] * (others - 1), "ambiguous"]),
        (f"{others - 1} agree with +6, 1 finds it unsafe", [*[6] * (others - 1), "unsafe"]),
        (f"{others - 1} agree with +6, 1 with +10", [*[6] * (others - 1), 10]),
        (f"{others - 1} agree with +2, 1 with −2", [*[2] * (others - 1), -2]),
        (f"{others} find it ambiguous", ["ambiguous"] * others),
    ]
    return [Case(words, _decided(rule, votes)) for words, votes in cases if len(votes) >= 1]


def _decided(rule: consensus.Rule, votes: list[int | str]) -> Decision:
    ballots = [_ballot(number, vote) for number, vote in enumerate(votes)]
    return consensus.decide(rule, writers=[], wording=0, eligible=range(len(ballots)), votes=ballots)


def _ballot(number: int, vote: int | str) -> Ballot:
    if isinstance(vote, int):
        return Ballot(number, 0, "agree", points=vote)
    return Ballot(number, 0, "abstain") if vote == "abstain" else Ballot(number, 0, "object", category=vote)
