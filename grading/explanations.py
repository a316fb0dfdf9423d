"""What a grader's explanation says of the criterion in so many words, to find verdicts that contradict it.

Only plain English statements count ("so the criterion is not met"), and only where all of them say the same.
Sentences with a condition or a hedge count for nothing. It is better to miss a contradiction than to see one where
there is none: a flagged verdict is kept as given, and people look at it.
"""

import re

from grading.reply_words import Verdict

_LONGEST = 20_000
_SENTENCE_END = re.compile(r"[.!?;。！？；]+(?=\s|\Z)|\n+")
_HEDGE = re.compile(
    r"\b(?:if|whether|unless|when|would|could|should|may|might|must|cannot|can't|partly|partially|almost|nearly"
    r"|only|seems?|appears?|arguably|possibly|perhaps|likely|to be|in order|not clear|unclear"
    r"|(?:says?|said|claims?|states?|writes?) (?:that|the|this))\b",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"\b(?:not|no|never|nor|neither|none|nothing|hardly|fails?|failed|without|lacks?)\b|n['’]t\b", re.IGNORECASE
)
_CRITERION = r"(?:criterion|criteria|rubric item)"
_MET = r"(?:met|satisfied|fulfilled)"
_SAYS_NOT_MET = re.compile(
    rf"\b{_CRITERION} (?:is|are|was|were|has|have)(?: not|n['’]t)(?: been)?(?: \w+ly)? {_MET}\b"
    rf"|\b{_CRITERION} (?:is|are|was|were) (?:\w+ )?unmet\b"
    r"|\b(?:(?:does|do|did)(?: not|n['’]t)|fails? to|failed to)(?: \w+ly)? (?:meet|satisfy|fulfill?)"
    rf" (?:the|this) {_CRITERION}\b",
    re.IGNORECASE,
)
_SAYS_MET = re.compile(
    rf"\b{_CRITERION} (?:is|are|was|were|has been|have been)"
    rf"(?: (?:therefore|thus|hence|clearly|fully|completely|indeed))? {_MET}\b"
    rf"|\b(?:meets|satisfies|fulfill?s) (?:the|this) {_CRITERION}\b",
    re.IGNORECASE,
)


def claimed_verdict(explanation: str) -> Verdict | None:
    """Met or not met where the explanation plainly says so of the criterion and never the contrary, else None."""
    if len(explanation) > _LONGEST:
        return None
    claims = set()
    for sentence in _SENTENCE_END.split(explanation):
        plain = " ".join(sentence.split())
        if _HEDGE.search(plain):
            continue
        if _SAYS_NOT_MET.search(plain):
            claims.add(Verdict.NOT_MET)
        elif _SAYS_MET.search(plain) and not _NEGATION.search(plain):
            claims.add(Verdict.MET)
    return claims.pop() if len(claims) == 1 else None
