"""Advice on a criterion's wording, with its reason. It never blocks: nothing here refuses anything.

Pure, and careful rather than complete: what is advised on without cause is soon read by nobody. Only the length is
told of a text in any language; the rest knows English words, and says nothing where a text isn't English.
"""

import re

MOST_WORDS = 60

_ACTS = (
    "asks|names|offers|explains|tells|suggests|recommends|acknowledges|validates|encourages|mentions|provides|gives|"
    "advises|avoids|states|says|describes|points|refers|urges|proposes|invites|responds|checks|clarifies|warns|"
    "discourages|expresses|reflects|identifies|assesses|explores|directs|normalizes|normalises|emphasizes|emphasises|"
    "summarizes|summarises|apologizes|apologises|thanks|shows|promises|claims|diagnoses|prescribes"
)
_SMALL_WORDS = (
    "the and or to of in that is are not with for about without any their them they this it if when what how who an by "
    "does doesn't should user's response fails takes supports keeps makes uses includes"
)
_OTHER_SMALL_WORDS = (
    "de la el los las que y con por para una del se su le les des et du une pour dans und der das den dem nicht ein "
    "eine mit zu auf het een van niet il di che per non uma os com não"
)
_ENGLISH = frozenset([*_SMALL_WORDS.split(), *_ACTS.split("|")])
_OTHER = frozenset(_OTHER_SMALL_WORDS.split())
_SUBJECT = r"(?:the (?:response|answer|assistant|model|reply) )?"
_TWO_ACTS = re.compile(
    rf"^{_SUBJECT}(?:\w+ly )?(?P<one>\w+s)\b(?P<between>.*?)\b(?P<join>and(?: also| then)?|as well as)"
    rf" (?:\w+ly )?(?P<two>{_ACTS})\b",
    re.IGNORECASE | re.DOTALL,
)
_ALSO = re.compile(r"\band also\b", re.IGNORECASE)
_VAGUE = re.compile(
    r"\b(?:in)?(?:appropriate|adequate|sufficient|effective)(?:ly)?\b|\b(?:un)?(?:reasonabl[ey]|suitabl[ey])\b|"
    r"\b(?:im)?proper(?:ly)?\b|\b(?:un)?helpful(?:ly)?\b|\b(?:as|if|where|when) (?:needed|necessary|appropriate)\b|"
    r"\betc\b\.?|\band so on\b|\bhigh[- ]quality\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:^|[.;] )(?P<begins>if|when|where|unless|in case|should the user)\b|"
    r"(?<!even),? (?P<later>if|unless|in case) the (?:user|person|patient|caller|response|assistant)\b",
    re.IGNORECASE,
)
_QUESTION_BEFORE = re.compile(
    r"\b(?:asks?|asking|checks?|checking|knows?|knowing|sees?|finds? out|wonders?|sure|even|as|only)(?: \w+){0,3}$",
    re.IGNORECASE,
)
_OTHER_CASE = re.compile(r"\b(?:otherwise|else|if not|if none|in all other cases|not applicable)\b", re.IGNORECASE)
_SOUNDS_UNWANTED = re.compile(
    rf"^{_SUBJECT}(?P<word>fails to|fail to|omits|ignores|dismisses|neglects|refuses|forgets|minimi[sz]es|belittles|"
    r"blames|shames|overlooks|wrongly|falsely|incorrectly|invents)\b",
    re.IGNORECASE,
)
_SOUNDS_WANTED = re.compile(
    rf"^{_SUBJECT}(?P<word>avoids|refrains from|correctly|should(?! not)|must(?! not))\b", re.IGNORECASE
)


def advise(text: str, points: int | None = None) -> list[str]:
    """What could make a criterion clearer, a sentence each, with the reason; [] where nothing is found.

    ``points`` None: not chosen yet, or not to be seen by the reader.
    """
    told = []
    words = count_words(text)
    if words > MOST_WORDS:
        told.append(
            f"It has about {words} words. What takes more than {MOST_WORDS} is seldom read by everybody in the same"
            " way: leave out what doesn’t decide."
        )
    if not is_english(text):
        return told
    plain = " ".join(text.split())
    return told + [
        sentence
        for sentence in (_two_things(plain), _vague(plain), _condition(plain), _sign(plain, points))
        if sentence
    ]


def count_words(text: str) -> int:
    """Words of a text, about: where a script sets no spaces, a word is taken as two (Han, kana) or five characters."""
    dense = re.findall(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]", text)
    unspaced = re.findall(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]", text)
    rest = re.sub(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]", " ", text)
    return len(re.findall(r"\S*\w\S*", rest)) + len(dense) // 2 + len(unspaced) // 5


def is_english(text: str) -> bool:
    """Whether a text is surely English, by its small words. In doubt it isn't: then less is advised."""
    words = re.findall(r"[^\W\d_]+(?:['’][^\W\d_]+)?", text.casefold().replace("’", "'"))
    english, other = (sum(word in known for word in words) for known in (_ENGLISH, _OTHER))
    return english > 2 * other and english * 8 >= len(words) and english > 0


def _two_things(text: str) -> str:
    found = _TWO_ACTS.search(text)
    if found:
        return (
            f"It asks for two things (“{found['one']} … {found['join']} {found['two']} …”). A reply that does only"
            " one of them is neither met nor not met: write two criteria."
        )
    if _ALSO.search(text):
        return "“And also” joins two things. A reply may do only one of them: write two criteria."
    return ""


def _vague(text: str) -> str:
    found = list(dict.fromkeys(word.casefold().rstrip(".") for word in _VAGUE.findall(text)))
    if not found:
        return ""
    words = ", ".join(f"“{word}”" for word in found[:4])
    return f"{words}: each of us sees something else in that. Say what would be there to be read in the reply."


def _condition(text: str) -> str:
    found = _CONDITION.search(text)
    if found is None or _OTHER_CASE.search(text):
        return ""
    if found["later"] and _QUESTION_BEFORE.search(text[: found.start("later")].rstrip(" ,")):
        return ""
    word = (found["begins"] or found["later"]).casefold()
    return (
        f"It has a condition (“{word}”) and doesn’t say what holds otherwise: met or not met? Without that, each of"
        " us decides it differently."
    )


def _sign(text: str, points: int | None) -> str:
    if points is None or points == 0:
        return ""
    found = (_SOUNDS_UNWANTED if points > 0 else _SOUNDS_WANTED).search(text)
    if not found:
        return ""
    effect = "a reply gets points for it" if points > 0 else "it counts against a reply"
    kind = "something unwanted" if points > 0 else "something wanted"
    return (
        f"“{found['word']}” sounds like {kind}, and with this weight {effect}: turn the wording or the weight around."
    )
