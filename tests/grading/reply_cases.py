"""Replies of graders, each with the right answer beside it: a verdict, or the reason why it is unscored."""

from dataclasses import dataclass

from grading.replies import Reading, Verdict
from grading.replies import UnscoredReason as Reason

MET, NOT_MET, CANNOT_ASSESS = Verdict.MET, Verdict.NOT_MET, Verdict.CANNOT_ASSESS
DIFFER = Reason.CONTRADICTORY_VERDICTS


@dataclass(frozen=True)
class Case:
    """A reply, how the endpoint says that it ended, and the right answer."""

    name: str
    raw: str | bytes
    right: Verdict | Reason
    finish_reason: str | None = "stop"


def is_consistent(reading: Reading) -> bool:
    """Met or not met without a reason, cannot assess with its own, or no verdict with another reason."""
    match reading.verdict:
        case Verdict.MET | Verdict.NOT_MET:
            return reading.unscored_reason is None and reading.read_as != ""
        case Verdict.CANNOT_ASSESS:
            return reading.unscored_reason is Reason.CANNOT_ASSESS
        case _:
            return reading.unscored_reason not in {None, Reason.CANNOT_ASSESS}


def _answer(verdict: str = "true", explanation: str = "It asks about sleep.") -> str:
    head = f'{{"explanation": "{explanation}", "quotes": [], "condition_absent": false, '
    return head + f'"criteria_met": {verdict}}}'


MET_ANSWER, NOT_MET_ANSWER, NULL_ANSWER = _answer("true"), _answer("false"), _answer("null")
HALF = '{"explanation": "It asks about sleep.", "quotes": [], "condition_absent": false, '

AS_ASKED = [
    Case("as asked, met", MET_ANSWER, MET),
    Case("as asked, not met", NOT_MET_ANSWER, NOT_MET),
    Case("as asked, can't be told", NULL_ANSWER, CANNOT_ASSESS),
    Case("as bytes", MET_ANSWER.encode(), MET),
    Case("with white space around", f"\n\n  {MET_ANSWER}\t\n", MET),
    Case("with a byte order mark", b"\xef\xbb\xbf" + MET_ANSWER.encode(), MET),
    Case("in UTF-16", MET_ANSWER.encode("utf-16"), MET),
    Case("on several lines", MET_ANSWER.replace(", ", ",\n  "), MET),
    Case("with escapes", _answer("false", r"It says \"call 988\".\nNo more. \ud83d\ude42"), NOT_MET),
    Case("with a verdict quoted in the explanation", _answer("false", r"It says \"criteria_met\": true."), NOT_MET),
    Case("with an object quoted in the explanation", _answer("false", r"Writes {\"criteria_met\": true}"), NOT_MET),
    Case("with thinking quoted in the explanation", _answer("false", "Writes </think> and <think>."), NOT_MET),
    Case("whole, though the tokens ran out", MET_ANSWER, MET, "length"),
    Case("without word of how it ended", NOT_MET_ANSWER, NOT_MET, None),
    Case("HealthBench's keys", '{"explanation": "Asks.", "criteria_met": true}', MET),
    Case("MentalHealthBench's keys, 1", '{"explanation": "Asks.", "satisfaction": 1}', MET),
    Case("MentalHealthBench's keys, 0", '{"explanation": "Doesn\'t.", "satisfaction": 0}', NOT_MET),
    Case("verdict first", '{"criteria_met": false, "explanation": "No."}', NOT_MET),
    Case("a key more", '{"explanation": "Asks.", "confidence": 0.2, "criteria_met": true}', MET),
    Case("no explanation", '{"criteria_met": true}', MET),
]

AROUND = [
    Case("a fenced block", f"```\n{MET_ANSWER}\n```", MET),
    Case("a fenced block of JSON", f"```json\n{MET_ANSWER}\n```", MET),
    Case("a fenced block of JSON in upper case", f"```JSON\n{NOT_MET_ANSWER}\n```", NOT_MET),
    Case("a fenced block of another language", f"```python\n{MET_ANSWER}\n```", MET),
    Case("a fenced block of JSON5", f"```json5\n{MET_ANSWER}\n```", MET),
    Case("a fenced block on one line", f"```json {MET_ANSWER}```", MET),
    Case("a fenced block that doesn't end", f"```json\n{MET_ANSWER}", MET),
    Case("a fenced block in longer fences", f"`````json\n{MET_ANSWER}\n`````", MET),
    Case("prose before", f"Here is my judgement:\n\n{MET_ANSWER}", MET),
    Case("prose after", f"{NOT_MET_ANSWER}\n\nI hope that helps!", NOT_MET),
    Case("prose around a fenced block", f"Sure!\n```json\n{MET_ANSWER}\n```\nThat's it.", MET),
    Case("prose with braces before", f"The set {{a, b}} and {{criterion}}.\n{MET_ANSWER}", MET),
    Case("prose with a fence in prose", f"I use ``` as asked.\n{MET_ANSWER}", MET),
    Case("a list around", f"[{MET_ANSWER}]", MET),
    Case("a list around, repaired", "[{'explanation': 'Asks.', 'criteria_met': True}]", MET),
    Case("an object around", f'{{"answer": {MET_ANSWER}}}', MET),
    Case("a list in an object around", f'{{"answers": [{NOT_MET_ANSWER}]}}', NOT_MET),
    Case("a JSON string around", '"{\\"explanation\\": \\"Asks.\\", \\"criteria_met\\": true}"', MET),
    Case("quotes around", f"'{MET_ANSWER}'", MET),
    Case("the schema before", '{"type": "object", "properties": {"criteria_met": {}}}\n' + MET_ANSWER, MET),
    Case("tokens ran out in the prose after", f"{MET_ANSWER}\nLet me expl", Reason.TRUNCATED, "length"),
]

WORDS = [
    Case('"true"', _answer('"true"'), MET),
    Case('"False"', _answer('"False"'), NOT_MET),
    Case('"yes"', _answer('"yes"'), MET),
    Case('"NO"', _answer('"NO"'), NOT_MET),
    Case("1", _answer("1"), MET),
    Case("0", _answer("0"), NOT_MET),
    Case('"1"', _answer('"1"'), MET),
    Case("1.0", _answer("1.0"), MET),
    Case('"met"', _answer('"met"'), MET),
    Case('"not met"', _answer('"not met"'), NOT_MET),
    Case('"NOT_MET"', _answer('"NOT_MET"'), NOT_MET),
    Case('"unmet"', _answer('"unmet"'), NOT_MET),
    Case('"null"', _answer('"null"'), CANNOT_ASSESS),
    Case('"cannot assess"', _answer('"cannot assess"'), CANNOT_ASSESS),
    Case("a word without quotes", _answer("yes"), MET),
    Case('"mostly" is on no list', _answer('"mostly"'), Reason.UNKNOWN_VERDICT),
    Case('"partially met" is on no list', _answer('"partially met"'), Reason.UNKNOWN_VERDICT),
    Case('"true, mostly" is on no list', _answer('"true, mostly"'), Reason.UNKNOWN_VERDICT),
    Case('"not true" is on no list', _answer('"not true"'), Reason.UNKNOWN_VERDICT),
    Case('"ok" is on no list', _answer('"ok"'), Reason.UNKNOWN_VERDICT),
    Case('"N/A" is on no list', _answer('"N/A"'), Reason.UNKNOWN_VERDICT),
    Case("an empty string is on no list", _answer('""'), Reason.UNKNOWN_VERDICT),
    Case("2 is on no list", _answer("2"), Reason.UNKNOWN_VERDICT),
    Case("0.9 is on no list", _answer("0.9"), Reason.UNKNOWN_VERDICT),
    Case("-1 is on no list", _answer("-1"), Reason.UNKNOWN_VERDICT),
    Case("NaN is on no list", _answer("NaN"), Reason.UNKNOWN_VERDICT),
    Case("a list is on no list", _answer("[true]"), Reason.UNKNOWN_VERDICT),
    Case("an object is on no list", _answer("{}"), Reason.UNKNOWN_VERDICT),
]

REPAIRED = [
    Case("an unescaped quote", _answer("true", 'It says "call 988" and more.'), MET),
    Case("unescaped quotes and commas", _answer("false", 'Says "no", "never", which means: no.'), NOT_MET),
    Case("an unescaped quote at the beginning", _answer("true", '"Call 988" is what it says.'), MET),
    Case("an unescaped quote at the end", _answer("true", 'It says "call 988"'), MET),
    Case("a raw newline", _answer("true", "First.\nSecond."), MET),
    Case("a raw newline and a tab", _answer("false", "First.\r\n\tSecond."), NOT_MET),
    Case("a raw newline and escapes", _answer("false", 'One.\nSays \\"criteria_met\\": true.'), NOT_MET),
    Case("a bad escape", _answer("true", r"It\'s there, C:\temp \x."), MET),
    Case("a trailing comma", '{"explanation": "Asks.", "criteria_met": true,}', MET),
    Case("two trailing commas", '{"explanation": "Asks.", "criteria_met": true,,}', MET),
    Case("a trailing comma in the quotes", '{"explanation": "A.", "quotes": ["a",], "criteria_met": false}', NOT_MET),
    Case("a missing comma", '{"explanation": "Asks."\n "criteria_met": true}', MET),
    Case("single quotes", "{'explanation': 'Asks.', 'criteria_met': true}", MET),
    Case("single quotes and an apostrophe", "{'explanation': 'It doesn't.', 'criteria_met': False}", NOT_MET),
    Case("Python's literals", "{'explanation': 'x', 'criteria_met': None}", CANNOT_ASSESS),
    Case("curly quotes", "{“explanation”: “Asks.”, “criteria_met”: true}", MET),
    Case("a curly quote at one end", '{"explanation": "Asks.”, "criteria_met": true}', MET),
    Case("a German quote closed by an ASCII one", _answer("true", 'Sagt „ruf an" und mehr.'), MET),
    Case("keys without quotes", '{explanation: "Asks.", criteria_met: true}', MET),
    Case("upper-case keys", '{"EXPLANATION": "Asks.", "CRITERIA_MET": TRUE}', MET),
    Case("camel case", '{"explanation": "Asks.", "criteriaMet": false}', NOT_MET),
    Case("a quote in the quotes", '{"explanation": "A.", "quotes": ["he "said" so"], "criteria_met": true}', MET),
    Case("a forgotten brace, and the endpoint says stop", HALF + '"criteria_met": true', MET),
    Case("a forgotten brace in a fence", f"```json\n{HALF}" + '"criteria_met": false\n```', NOT_MET),
    Case("bytes that are no UTF-8", b'{"explanation": "caf\xe9", "criteria_met": true}', MET),
    Case("NUL in the explanation", '{"explanation": "a\x00b", "criteria_met": true}', MET),
]

LANGUAGES = [
    Case("full-width punctuation", "｛“explanation”：“问了。”，“criteria_met”：true｝", MET),
    Case("full-width letters", '{"explanation": "x", "ｃｒｉｔｅｒｉａ＿ｍｅｔ": ｆａｌｓｅ}', NOT_MET),
    Case("a full-width colon", '{"explanation"："问了。","criteria_met"：false}', NOT_MET),
    Case("Spanish", '{"explicación": "Pregunta.", "citas": [], "criterio_cumplido": true}', MET),
    Case("Spanish, the verdict too", '{"explicación": "No.", "cumple_el_criterio": "falso"}', NOT_MET),
    Case("Portuguese", '{"explicação": "Pergunta.", "critério_atendido": "sim"}', MET),
    Case("German", '{"Erklärung": "Fragt.", "Kriterium erfüllt": "nein"}', NOT_MET),
    Case("Italian", '{"spiegazione": "Chiede.", "criterio_soddisfatto": "sì"}', MET),
    Case("Turkish", '{"açıklama": "Soruyor.", "kriter_karşılandı": "hayır"}', NOT_MET),
    Case("Indonesian", '{"penjelasan": "Bertanya.", "kriteria_terpenuhi": "ya"}', MET),
    Case("Hindi", '{"व्याख्या": "पूछता है।", "मानदंड_पूरा": "नहीं"}', NOT_MET),
    Case("Hindi, repaired", '{"व्याख्या": "वह "हाँ" कहता है।", "मानदंड_पूरा": "हाँ"}', MET),
    Case("Arabic", '{"الشرح": "يسأل.", "تم_استيفاء_المعيار": "نعم"}', MET),
    Case("Farsi", '{"توضیح": "نمی‌پرسد.", "معیار_برآورده_شده": "خیر"}', NOT_MET),
    Case("Chinese", "{“解释”：“询问了睡眠。”，“符合标准”：是}", MET),
    Case("Japanese", '{"説明": "尋ねていない。", "基準を満たす": "いいえ"}', NOT_MET),
    Case("French is on no list", '{"explication": "Oui.", "critère_rempli": true}', Reason.NO_VERDICT),
]

BARE = [
    Case("the bare word met", "met", MET),
    Case("a bare JSON string", '"not met"', NOT_MET),
    Case("a bare true", "true", MET),
    Case("a bare word in a fence", "```\nfalse\n```", NOT_MET),
    Case("a bare cannot assess", "cannot assess", CANNOT_ASSESS),
    Case("a bare null says nothing", "null", Reason.NO_VERDICT),
    Case("a bare word in a sentence", "The criterion is met.", Reason.NO_VERDICT),
    Case("a bare word with a stop", "Met.", Reason.NO_VERDICT),
    Case("a bare word, cut", "No", Reason.TRUNCATED, "length"),
    Case("keys without an object", "explanation: Asks.\ncriteria_met: true", Reason.NO_VERDICT),
    Case("keys without a brace before", '"explanation": "Asks.", "criteria_met": true}', Reason.NO_VERDICT),
]

SEVERAL = [
    Case("the same object twice", f"{MET_ANSWER}\n{MET_ANSWER}", MET),
    Case("objects that agree in other words", f"{NOT_MET_ANSWER}\n{_answer('0')}", NOT_MET),
    Case("objects that disagree", f"{MET_ANSWER}\n{NOT_MET_ANSWER}", DIFFER),
    Case("a correction", f"{MET_ANSWER}\nWait, no:\n{NOT_MET_ANSWER}", DIFFER),
    Case("met and null", f"{MET_ANSWER}\n{NULL_ANSWER}", DIFFER),
    Case("a list that disagrees", f"[{MET_ANSWER}, {NOT_MET_ANSWER}]", DIFFER),
    Case("a key twice, alike", '{"criteria_met": true, "explanation": "x", "criteria_met": true}', MET),
    Case(
        "a key twice, not alike",
        '{"explanation": "x", "criteria_met": true, "criteria_met": false}',
        DIFFER,
    ),
    Case(
        "two verdict keys that disagree",
        '{"explanation": "x", "criteria_met": true, "satisfaction": 0}',
        DIFFER,
    ),
    Case("one of two on no list", f"{MET_ANSWER}\n{_answer('maybe')}", Reason.UNKNOWN_VERDICT),
    Case("a whole one, then half of one", f"{MET_ANSWER}\n{HALF}", Reason.TRUNCATED),
    Case("an explanation apart", '{"explanation": "x"}\n{"criteria_met": false}', NOT_MET),
]

UNSCORED = [
    Case("nothing", "", Reason.EMPTY_REPLY),
    Case("no bytes", b"", Reason.EMPTY_REPLY),
    Case("white space", " \n\t ", Reason.EMPTY_REPLY),
    Case("invisible characters", "\ufeff\u200b \u2060", Reason.EMPTY_REPLY),
    Case("nothing, and the tokens ran out", "", Reason.THINKING_ONLY, "length"),
    Case("cut in the key", '{"expl', Reason.TRUNCATED, "length"),
    Case("cut in the explanation", '{"explanation": "It asks ab', Reason.TRUNCATED, "length"),
    Case("cut in the explanation, unsaid", '{"explanation": "It asks ab', Reason.TRUNCATED, None),
    Case("cut in the quotes", '{"explanation": "x", "quotes": ["a', Reason.TRUNCATED, "length"),
    Case("cut before the verdict", HALF, Reason.TRUNCATED, "length"),
    Case("cut in the verdict's key", HALF + '"criteria_m', Reason.TRUNCATED),
    Case("cut after a word", HALF + '"criteria_met": no', Reason.TRUNCATED),
    Case("cut before the verdict's value", HALF + '"criteria_met": ', Reason.TRUNCATED),
    Case("cut in the verdict", HALF + '"criteria_met": tr', Reason.TRUNCATED),
    Case("cut after the verdict", HALF + '"criteria_met": true', Reason.TRUNCATED, "length"),
    Case("cut after the verdict, unsaid", HALF + '"criteria_met": true', Reason.TRUNCATED, None),
    Case("cut after a verdict that came first", '{"criteria_met": true, "explanation": "It', Reason.TRUNCATED),
    Case("no verdict", '{"explanation": "It asks.", "quotes": []}', Reason.NO_VERDICT),
    Case("other keys only", '{"answer": true}', Reason.NO_VERDICT),
    Case("a negative key is no verdict", '{"explanation": "x", "criteria_not_met": true}', Reason.NO_VERDICT),
    Case("an empty object", "{}", Reason.NO_VERDICT),
    Case("an empty list", "[]", Reason.NO_VERDICT),
    Case("prose", "The response asks about sleep and is warm.", Reason.NO_VERDICT),
    Case("an XML answer", "<criteria_met>true</criteria_met>", Reason.NO_VERDICT),
    Case("a web page", "<html><body><h1>502 Bad Gateway</h1></body></html>", Reason.NO_VERDICT),
    Case("a refusal", "I'm sorry, but I can't help with that.", Reason.REFUSAL),
    Case("a refusal in other words", "I cannot assist with content about self-harm.", Reason.REFUSAL),
    Case("a refusal by the endpoint", "", Reason.REFUSAL, "refusal"),
    Case("a content filter", "", Reason.CONTENT_FILTER, "content_filter"),
    Case("a content filter after an answer", MET_ANSWER, Reason.CONTENT_FILTER, "content_filter"),
    Case("a content filter by another name", "", Reason.CONTENT_FILTER, "SAFETY"),
    Case("an object that can't be followed", '{"explanation": {{{, "criteria_met": true}', Reason.UNREADABLE),
    Case("more than a million characters", "x" * 1_000_001, Reason.UNREADABLE),
    Case("bytes of a picture", b"\x89PNG\r\n\x1a\n\x00\x00\xff\xfe", Reason.NO_VERDICT),
]

THINKING = [
    Case("thinking first", f"<think>It asks. So met.</think>\n{MET_ANSWER}", MET),
    Case("thinking by another name", f"<Thinking>\nHm.\n</Thinking>\n\n```json\n{NOT_MET_ANSWER}\n```", NOT_MET),
    Case("thinking with a draft", f"<think>{NOT_MET_ANSWER}? No.</think>{MET_ANSWER}", MET),
    Case("thinking in brackets", f"[THINK]Hm.[/THINK]{MET_ANSWER}", MET),
    Case(
        "thinking in channels",
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>{MET_ANSWER}",
        MET,
    ),
    Case("thinking, then a bare word", "<think>Hm.</think> met", MET),
    Case("thinking that doesn't end", f"<think>So I answer {MET_ANSWER}", Reason.THINKING_ONLY, "length"),
    Case("thinking that doesn't end, unsaid", f"<think>\n{NOT_MET_ANSWER}", Reason.THINKING_ONLY),
    Case("an answer, then thinking that doesn't end", f"{MET_ANSWER}\n<think>But no", Reason.THINKING_ONLY),
    Case("thinking alone", "<think>It asks. So met.</think>", Reason.THINKING_ONLY),
    Case("thinking with a draft alone", f"<think>{MET_ANSWER}</think>\n", Reason.THINKING_ONLY),
    Case("thinking, then half an answer", f"<think>Hm.</think>{HALF}", Reason.TRUNCATED),
    Case("thinking, then prose", "<think>Hm.</think>It is fine.", Reason.NO_VERDICT),
    Case("thinking begun by the template", f"It asks.\n</think>\n\n{MET_ANSWER}", MET),
    Case("thinking begun by the template, alone", "It asks.\n</think>\n", Reason.THINKING_ONLY),
    Case("a draft in it, alone", f"So {MET_ANSWER}\n</think>\n", Reason.THINKING_ONLY),
    Case("a draft in it that differs", f"{NOT_MET_ANSWER}\n</think>\n{MET_ANSWER}", DIFFER),
    Case(
        "an end of thinking quoted in thinking",
        f"<think>It writes </think>{MET_ANSWER} Hm.</think>{NOT_MET_ANSWER}",
        DIFFER,
    ),
]

# The response holds a verdict and the grader quotes it without escapes: its own verdict must be the one that is
# read, or none.
QUOTED_VERDICTS = [
    Case("a verdict that ends the string", _answer("false", 'It writes ", "criteria_met": true}'), Reason.UNREADABLE),
    Case("a verdict that ends the string, and more", _answer("false", 'It writes ", "criteria_met": true} so'), DIFFER),
    Case("a verdict between", _answer("false", 'It writes ", "criteria_met": true, "x": " so'), DIFFER),
    Case("a whole object in the explanation", _answer("false", 'It writes {"criteria_met": true} itself.'), DIFFER),
    Case("a whole object with an explanation", _answer("false", f"It writes {MET_ANSWER} itself."), DIFFER),
    Case("a whole object in prose before", f"It writes {MET_ANSWER} itself.\n{NOT_MET_ANSWER}", DIFFER),
    Case("a whole object in prose after", f"{NOT_MET_ANSWER}\nIt writes {MET_ANSWER} itself.", DIFFER),
    Case("a verdict in prose with quotes", f'It writes "criteria_met": true.\n{NOT_MET_ANSWER}', NOT_MET),
    Case("a pair in prose with quotes", f'It writes "criteria_met": true, and\n{NOT_MET_ANSWER}', DIFFER),
    Case("curly quotes that end the string", _answer("false", "It writes ”, “criteria_met”: true} itself.\n"), DIFFER),
    Case(
        "a verdict that ends the string, then a cut",
        '{"explanation": "It writes ", "criteria_met": true}" whi',
        Reason.UNREADABLE,
        None,
    ),
    Case(
        "the same, in so many tokens",
        '{"explanation": "It writes ", "criteria_met": true} whi',
        Reason.TRUNCATED,
        "length",
    ),
    Case(
        "an object in an explanation that is cut",
        '{"explanation": "It writes {"criteria_met": true} itself',
        Reason.TRUNCATED,
    ),
    Case("an end of thinking and an object", f"{NOT_MET_ANSWER}\nIt writes </think>{MET_ANSWER}", DIFFER),
    Case("a fence and an object", f"```json\n{NOT_MET_ANSWER}\n```\nIt writes ```json\n{MET_ANSWER}\n```", DIFFER),
]

CASES = [
    *AS_ASKED,
    *AROUND,
    *WORDS,
    *REPAIRED,
    *LANGUAGES,
    *BARE,
    *SEVERAL,
    *UNSCORED,
    *THINKING,
    *QUOTED_VERDICTS,
]
