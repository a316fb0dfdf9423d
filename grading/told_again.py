"""What pure modules and workers say in English, in the reader's language: why a number is undefined, why a pair is
unscored, why a run stopped or gets no answers. The patterns stand here for the catalogues; tests hold them to the
sentences themselves."""

from django.utils.translation import gettext_noop

from consilium.retelling import retell

UNDEFINED = (
    gettext_noop("There is nothing that two raters both judged."),
    gettext_noop("Every verdict is the same, so agreement beyond chance can't be told."),
    gettext_noop("One rater gave the same class to everything, so there is no correlation."),
    gettext_noop("Neither side gave this class."),
    gettext_noop("The side that is divided by never gave this class."),
    gettext_noop("There are no responses."),
    gettext_noop("There are no criteria with positive points to divide by."),
    gettext_noop("Some criteria of this response are unscored, so it has bounds and no score."),
    gettext_noop("No response that can be scored has all its criteria scored."),
)
TOO_FEW = (
    gettext_noop(
        "Counts only: fewer than {pairs} pairs, or from fewer than {conversations} conversations, are too few for a "
        "coefficient."
    ),
    gettext_noop(
        "Counts only: fewer than {criteria} criteria with two votes or more, or from fewer than {conversations} "
        "conversations, are too few for a coefficient."
    ),
    gettext_noop("Nothing is told of fewer than {people} people: it could tell how one of them votes."),
)
UNSCORED = (
    gettext_noop("The grader says that it can't be told from the texts."),
    gettext_noop("The grader's reply gives no verdict."),
    gettext_noop("The grader's verdict is neither met nor not met."),
    gettext_noop("The grader's reply gives verdicts that differ."),
    gettext_noop("The grader's reply is empty."),
    gettext_noop("The grader's reply ends before its verdict is complete."),
    gettext_noop("The grader thought and gave no answer."),
    gettext_noop("The grader refused to judge."),
    gettext_noop("The endpoint's content filter stopped the answer."),
    gettext_noop("The grader's reply can't be read."),
)
STOPS = (
    gettext_noop("{problem} It was tried {times} times. Nothing is lost: resume the run when the grader is back."),
    gettext_noop(
        "{problem} It said so {times} times in a row to one call. Nothing is lost: resume the run when the grader is "
        "back."
    ),
    gettext_noop("Its jobs ended before every pair had a grade; the worker's log says why. The run can be resumed."),
)
PROBLEMS = (
    gettext_noop("The environment variable {name}, which holds the key, isn't set where the worker runs."),
    gettext_noop("What the environment variable {name} holds is no key."),
    gettext_noop("The connection to {host} broke before the answer was complete ({kind})."),
    gettext_noop("{host} did not answer within {seconds} seconds."),
    gettext_noop("{host} can't be reached."),
    # What the endpoint itself says stays as it came.
    gettext_noop("{host} says that the texts are longer than the model's context ({status}){heard}"),
    gettext_noop("{host} stopped the call by its content filter ({status}){heard}"),
    gettext_noop("{host} does not take a schema for the answer ({status}){heard}"),
    gettext_noop("{host} does not accept the call ({status}){heard}"),
    gettext_noop("{host} has too many calls at the moment ({status}){heard}"),
    gettext_noop("{host} has a fault ({status}){heard}"),
    gettext_noop("{host} can't be reached ({status}){heard}"),
    gettext_noop("{host} has no credit left for this key ({status}){heard}"),
    gettext_noop("{host} refuses the key ({status}){heard}"),
    gettext_noop("{host} does not know the model ({status}){heard}"),
    gettext_noop("{host} does not allow this key to use the model ({status}){heard}"),
    gettext_noop("{host} sends the call to another address, and calls are not sent on ({status}){heard}"),
    gettext_noop("{host} answers, but has no chat completions at this address ({status}){heard}"),
)


def reason_in_words(sentence: str) -> str:
    """Why there is no number or no verdict."""
    return retell(sentence, (*UNDEFINED, *TOO_FEW, *UNSCORED))


def problem_in_words(sentence: str) -> str:
    """What an endpoint did in place of an answer, or what was wrong with its reply."""
    return retell(sentence, (*UNSCORED, *PROBLEMS))


def stop_in_words(sentence: str) -> str:
    """Why a run was stopped, as it is stored."""
    return retell(sentence, (*STOPS, *PROBLEMS), values={"problem": problem_in_words})
