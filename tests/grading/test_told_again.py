"""What pure modules and workers say is told again by its pattern, in the reader's language."""

import pytest
from django.utils.translation import override

from consilium.retelling import find_pattern
from grading import agreement, calling, vote_agreement
from grading.calling import EndpointClient, Kind
from grading.completions import Complaint
from grading.engine import GO_ON_LATER
from grading.replies import UnscoredReason
from grading.runs import LEFT_BEHIND
from grading.statistics.undefined import Reason
from grading.told_again import PROBLEMS, STOPS, TOO_FEW, UNDEFINED, UNSCORED, reason_in_words, stop_in_words


@pytest.mark.parametrize("sentence", [reason.sentence for reason in Reason])
def test_why_a_number_is_undefined(sentence: str) -> None:
    assert sentence in UNDEFINED


@pytest.mark.parametrize("sentence", [reason.sentence for reason in UnscoredReason])
def test_why_a_reply_gives_no_score(sentence: str) -> None:
    assert sentence in UNSCORED


@pytest.mark.parametrize(
    "sentence", [agreement.TOO_FEW, vote_agreement.TOO_FEW_CRITERIA, vote_agreement.TOO_FEW_PEOPLE]
)
def test_what_is_too_few(sentence: str) -> None:
    assert find_pattern(sentence, TOO_FEW)
    with override("en"):
        assert reason_in_words(sentence) == sentence


KINDS = [kind for kind in Kind if kind is not Kind.UNUSABLE]
UNUSABLE = [*(words for _, words in calling._UNUSABLE), calling._OTHERWISE_UNUSABLE]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("heard", ["", "No (really): not {now}."])
def test_what_an_endpoint_did(kind: Kind, heard: str) -> None:
    client = EndpointClient(base_url="http://127.0.0.1:9/v1", key="", seconds=1)
    sentence = client._sentence(kind, 429, Complaint(message=heard))
    found = find_pattern(sentence, PROBLEMS)
    assert found is not None
    assert found[1] == {"host": "127.0.0.1:9", "status": "429", "heard": f": {heard}" if heard else "."}


@pytest.mark.parametrize("words", UNUSABLE)
def test_why_an_endpoint_is_of_no_use(words: str) -> None:
    found = find_pattern(f"127.0.0.1:9 {words} (404).", PROBLEMS)
    assert found is not None
    assert found[1]["heard"] == "."


def test_why_a_run_stopped() -> None:
    assert LEFT_BEHIND in STOPS
    said = f"127.0.0.1:9 can't be reached. It was tried 8 times. {GO_ON_LATER}"
    found = find_pattern(said, STOPS)
    assert found is not None
    assert found[1] == {"problem": "127.0.0.1:9 can't be reached.", "times": "8"}
    assert stop_in_words("What nobody foresaw.") == "What nobody foresaw."
