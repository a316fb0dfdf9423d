"""What a reveal decided, in the reader's language: the stored English sentence of annotation.consensus, told again."""

from django.utils.translation import gettext, gettext_noop

from consilium.retelling import retell

DECISIONS = (
    gettext_noop("In consensus at {points}: {agreed} agreed, {objected} objected, {abstained} abstained."),
    gettext_noop("In consensus at {points}: {agreed} agreed, {objected} objected."),
    gettext_noop("In consensus at {points}: {agreed} agreed, {abstained} abstained."),
    gettext_noop("In consensus at {points}: {agreed} agreed."),
    gettext_noop("Out: {objected} objected and nobody agreed."),
    gettext_noop("Not in consensus: {reasons}."),
)
REASONS = (
    gettext_noop("{reviewed} of the {needed} reviewers needed have judged it"),
    gettext_noop("{agreed} agreed, {needed} are needed"),
    gettext_noop("{agreed} of {decided} who decided agreed, at least {share} are needed"),
    gettext_noop("somebody objected that it is {categories}"),
    gettext_noop("some want it in a good answer and some don't want it"),
    gettext_noop(
        "{near} of {count} weights lie within {tolerance} of the middle one ({middle}), at least {share} are needed"
    ),
)


def _categories(words: str) -> str:
    return gettext(" and ").join(str(gettext(word)) for word in words.split(" and "))


def reasons_in_words(reasons: str) -> str:
    """Why it is not in consensus, reason by reason."""
    return "; ".join(retell(reason, REASONS, values={"categories": _categories}) for reason in reasons.split("; "))


def decision_in_words(sentence: str) -> str:
    """A stored decision as this reader reads it."""
    return retell(sentence, DECISIONS, values={"reasons": reasons_in_words})
