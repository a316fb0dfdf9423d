"""Telephone numbers, addresses, e-mails and record numbers that look like a person's, in the languages of the field.

The scan warns and never decides: it tells where to look, and never repeats what it found. Helplines, freephone
numbers, short numbers and those kept for fiction are nobody's own and are passed over.
"""

import re
from collections.abc import Iterator

from annotation.importing.report import Report

_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@([\w-]+(?:\.[\w-]+)+)")
_NOBODYS_DOMAIN = re.compile(
    r"(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid|localhost|samaritans\.org)$", re.IGNORECASE
)
_TELEPHONE = re.compile(
    r"""(?<![A-Za-z0-9_.,/-])(?<!\d:)(?:
        \+\d[\d ().\-/]{6,20}\d                                   # +49 30 1234567
        | \(?0\d{1,5}\)?(?:[ ./-]{0,2}\d){6,10}                   # 030 / 123 45 67, 06 12 34 56 78
        | (?:1[ .-])?(?:\([2-9]\d\d\)[ ]?|[2-9]\d\d[ .-])\d{3}[ .-]\d{4}   # (617) 234-5678
        | 1?[2-9]\d{2}[2-9]\d{6} | 1[3-9]\d{9}                    # ten or eleven digits in one
        | 1[3-9]\d[ -]\d{4}[ -]\d{4}                             # 138 1234 5678 (China)
        | [6-9]\d{4}[ -]?\d{5}                                   # 98765 43210 (India)
        | [679]\d\d(?:[ .-]\d\d){3} | [67]\d\d(?:[ -]\d{3}){2} | [67]\d{8}   # 612 34 56 78 (Spain)
        | 9[1236]\d(?:[ -]?\d{3}){2} | \(?[1-9]\d\)?[ -]?9\d{4}[ -]\d{4} | \([1-9]\d\)[ ]?[2-5]\d{3}-\d{4}  # Portuguese
        | 3[2-9]\d[ .-]?\d{6,7}                                  # 333 1234567 (Italy)
        | 5\d\d[ .-]\d{3}[ .-]\d\d[ .-]\d\d                      # 532 123 45 67 (Turkey)
    )(?![A-Za-z0-9_]|[.,/:-]\d)""",
    re.VERBOSE,
)
_DATE = re.compile(r"0\d[./-]\d{1,2}[./-]\d{4}|0\d-\d\d-\d\d \d\d")
_ROUND = re.compile(r"[1-9]\d*0(?:[ .-]\d*0)+")
"""Doses and counts: every part of the number ends in nought."""
_NOBODYS = re.compile(
    r"""^(?:
        1?8(?:00|33|44|55|66|77|88)\d{7}        # freephone in North America
        | (?:44|0)(?:80[08]\d{6,7}|3(?:00|03|30|45|70)\d{7}|8(?:4[2-5]|7[0-3])\d{7})   # the United Kingdom's
        | 0?80[0-9]\d{4,9} | \d{1,3}0?800\d{6,8}    # freephone elsewhere
        | (?:61|0)?1[38]00\d{6} | 13\d{4} | (?:61|0)477131114    # Australia's
        | (?:\d{1,3})?0?116\d{3}                # the European helplines
        | 1?555\d{7} | 1?\d{3}55501\d\d          # kept for fiction
        | 9152987821 | 9999666555 | 1?8602662345    # helplines in India
    )$""",
    re.VERBOSE,
)
_ADDRESS = re.compile(
    r"""\b\d{1,5}[a-zA-Z]?\s+(?:[A-Z][\w'’.-]*\s+){1,4}
          (?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Terrace|Crescent)\b
      | \b[A-ZÄÖÜ][\w-]{0,40}?(?:straße|strasse|str\.|weg|gasse|allee|platz)\s+\d{1,4}\s?[a-z]?\b
      | \b(?:Calle|Avenida|Av\.|Rua|Via|Viale|Rue|Jalan|Jl\.)\s+
          (?:[A-ZÀ-Ý][\w'’.-]*\s*|d[eiao]\w{0,3}\s+){1,5},?\s*(?:n[.º°o]+\s*)?\d{1,5}\b
      | \b\d{1,4},?\s+(?:rue|avenue|boulevard|allée|chemin)\s+(?:d\w{0,2}['’ ]\s*)?(?:l[ae]s?\s+)?[A-ZÀ-Ý]
    """,
    re.VERBOSE,
)
_RECORD_NUMBER = re.compile(
    r"""\b(?:mrn|nhs|ssn|medical\s+record|health\s+record|patient|chart|case|insurance|policy|social\s+security|passport)
        \s*(?:no|nr|num|number|id|file)?\b\.?\s*(?:is|[:\#=])?\s*\#?\s*(?-i:[A-Z]{1,4}[- ]?)?\d[\d -]{3,}\d
      | \b(?!000|666)[0-8]\d{2}-(?!00)\d{2}-(?!0000)\d{4}\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = r"(?:nr|nummer|num|no|n[uú]mero|nomor|numaras[ıi]|number|id|n[.º°]{1,2}|नंबर|नम्बर|संख्या|क्रमांक|号码?|號碼?|编号)"
_NUMBER_BEFORE = r"(?:n[uú]mero|nomor|n[º°]|رقم|شماره)"
_OF_A_PERSON = r"""(?:
    patient(?:en)?|fall|versicher(?:ten|ungs)|(?:kranken|sozial)versicherungs|ausweis       # de
    |(?:historia|paciente|afiliad[oa]|asegurad[oa]|seguridad\s+social)                       # es
    |utente|processo|cart[aã]o                                                               # pt
    |paziente|pratica|tessera(?:\s+sanitaria)?                                               # it
    |pasien                                                                                  # id
    |hasta|dosya|protokol|kimlik                                                             # tr
    |الملف|المريض|الهوية|التأمين|السجل|پرونده|بیمار|بیمه                                        # ar, fa
    |मरीज़?|रोगी|रिकॉर्ड|रिकार्ड|फ़ाइल|बीमा|पंजीकरण                                            # hi
    |患者|病人|病案|住院|门诊|門診|医保卡?|就诊卡?                                                # zh
)"""
_OF_A_RECORD = r"""(?:
    aktenzeichen|historia\s+cl[ií]nica|expediente|dni|prontu[aá]rio|processo\s+cl[ií]nico|cpf|cart[aã]o\s+sus
    |cartella\s+clinica|rekam\s+medis|no\.?\s?rm|nik|bpjs|الرقم\s+القومي|کد\s+ملی|आधार|病历|病歷|身份证|身份證
)"""
_RECORD_NUMBER_ELSEWHERE = re.compile(
    rf"""(?<![A-Za-zÀ-ɏ])
        (?: {_OF_A_PERSON}[\s-]{{0,2}}{_NUMBER}
          | {_NUMBER_BEFORE}\s(?:d[aeio]l?l?a?\s)?{_OF_A_PERSON}(?:\sالطبي)?
          | {_OF_A_RECORD}(?:[\s-]?{_NUMBER})? )
        \.?\s?(?:(?:is|ist|es|é|è|adalah|هو|है|是|为)\s?)?[:：\#=]?\s?(?:n[.º°o]{{1,2}}\s?)?
        (?![0-3]?\d[./-][01]?\d[./-]\d{{2,4}}\b|\d{{4}}[./-]\d{{1,2}}[./-]\d{{1,2}}\b)       # a date
        (?!(?:19|20)\d\d\s?[/–-]\s?(?:19|20)?\d\d\b)                                         # years
        (?-i:[A-Z]{{1,4}}[\s-]?)?\d[\d ./-]{{4,20}}(?<=\d)
      | \b[XYZ]-?\d{{7}}-?[A-Z]\b                                                            # NIE (Spain)
      | \b\d{{3}}\.\d{{3}}\.\d{{3}}-\d\d\b                                                     # CPF
      | (?<!\d)[1-9]\d{{5}}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])\d{{3}}[\dX](?!\d)    # China's card
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CODICE_FISCALE = re.compile(r"\b[A-Z]{6}\d\d[A-EHLMPRST]\d\d[A-Z]\d{3}[A-Z]\b")
_LONG_NUMBER = re.compile(r"\d[\d ().\-/]{3,}\d")
"""What every telephone and record number holds; it is looked for first, because it is quickly found."""
_WORDS_BEFORE = 60
_OTHER_DIGITS = str.maketrans(
    {chr(first + value): str(value) for first in (0x0660, 0x06F0, 0x0966, 0xFF10) for value in range(10)}
    | {"\uff0b": "+", "\uff0d": "-"}
)
"""Arabic, Persian, Devanagari and full-width digits as those that the patterns know."""


def find_personal_data(text: str) -> Iterator[str]:
    """Yield, once each, what in a text looks like a person's: "an e-mail address", "a telephone number" ..."""
    if not text.isascii():
        text = text.translate(_OTHER_DIGITS)
    if "@" in text and any(not _NOBODYS_DOMAIN.search(found[1]) for found in _EMAIL.finditer(text)):
        yield "an e-mail address"
    parts = list(_around_long_numbers(text))
    if parts and any(_is_somebodys(found[0]) for found in _TELEPHONE.finditer(text)):
        yield "a telephone number"
    if _ADDRESS.search(text):
        yield "a postal address"
    if any(map(_holds_a_record_number, parts)) or _CODICE_FISCALE.search(text):
        yield "a record number"


def warn_of_personal_data(report: Report, *, line: int, column: str, text: str, place: str = "The text") -> None:
    """Warn of each kind of personal data that a text seems to hold."""
    for what in find_personal_data(text):
        report.warn(
            line,
            column,
            f"{place} holds what looks like {what}. If it is a real person's, take it out before importing.",
            kind="personal data",
        )


def _is_somebodys(number: str) -> bool:
    if _DATE.match(number) or _ROUND.fullmatch(number):
        return False
    digits = re.sub(r"\D", "", number)
    return 8 <= len(digits) <= 15 and not _NOBODYS.match(digits.removeprefix("00"))


def _around_long_numbers(text: str) -> Iterator[str]:
    """Yield the parts of a text that hold long numbers, with the words before them, each part once."""
    start = end = 0
    for found in _LONG_NUMBER.finditer(text):
        if found.start() - _WORDS_BEFORE > end:
            if end:
                yield text[start:end]
            start = found.start() - _WORDS_BEFORE
        end = found.end() + 2
    if end:
        yield text[start:end]


def _holds_a_record_number(part: str) -> bool:
    return bool(_RECORD_NUMBER.search(part) or _RECORD_NUMBER_ELSEWHERE.search(part))
