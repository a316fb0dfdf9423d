"""The closed lists of words that a grader's reply is read by: keys, verdicts, yes and no.

Asked for are English keys; some graders answer in the conversation's language all the same. The lists hold
the words of MentalHealthBench's languages (English, Spanish, Hindi, Arabic, Portuguese, German, Indonesian,
Italian, Farsi, Turkish, Chinese) and Japanese. What they don't hold is no key and no verdict: "partly",
"mostly", 0.7 and 2 mean nothing here, whatever they seem to mean.
"""

import unicodedata
from enum import StrEnum


class Field(StrEnum):
    """What a key of the answer stands for."""

    EXPLANATION = "explanation"
    QUOTES = "quotes"
    CONDITION_ABSENT = "condition_absent"
    VERDICT = "criteria_met"


_KEYS = {
    Field.VERDICT: """
        criteria_met criterion_met criteria_is_met criterion_is_met is_criteria_met is_criterion_met met
        satisfaction verdict
        criterios_cumplidos criterio_cumplido cumple_criterio cumple_criterios cumple_el_criterio
        cumple_los_criterios se_cumple_el_criterio criterio_satisfecho criterios_satisfechos
        critérios_atendidos critério_atendido criterios_atendidos criterio_atendido critérios_cumpridos
        critério_cumprido atende_ao_critério atende_aos_critérios critério_satisfeito critérios_satisfeitos
        kriterium_erfüllt kriterien_erfüllt kriterium_erfuellt kriterien_erfuellt erfüllt
        kriteria_terpenuhi memenuhi_kriteria terpenuhi
        criterio_soddisfatto criteri_soddisfatti soddisfa_il_criterio soddisfa_i_criteri
        kriter_karşılandı kriterler_karşılandı ölçüt_karşılandı ölçütler_karşılandı kriter_sağlandı
        符合标准 是否符合标准 满足标准 是否满足标准 达到标准 标准满足 标准达成 标准是否满足
        符合准则 满足准则 满足条件 是否满足条件
        符合標準 是否符合標準 滿足標準 是否滿足標準 達到標準
        मानदंड_पूरा मानदंड_पूरे मानदंड_पूरा_हुआ मानदंड_पूरे_हुए
        मापदंड_पूरा मापदंड_पूरे मापदंड_पूरा_हुआ
        المعيار_مستوفى المعايير_مستوفاة استيفاء_المعيار استيفاء_المعايير
        تم_استيفاء_المعيار تم_استيفاء_المعايير
        معیار_برآورده_شده معیارها_برآورده_شده معیار_برآورده_شد معیارها_برآورده_شدند
        基準を満たす 基準を満たしている 基準を満たしているか 基準充足 基準達成 基準を満たした
    """,
    Field.EXPLANATION: """
        explanation reasoning rationale reason justification
        explicación explicacion justificación justificacion razonamiento
        explicação explicacao justificativa justificação raciocínio
        erklärung erklaerung begründung begruendung
        penjelasan alasan
        spiegazione motivazione giustificazione
        açıklama gerekçe
        解释 解釋 说明 說明 理由 解析
        व्याख्या स्पष्टीकरण कारण
        الشرح التفسير شرح تفسير التوضيح توضيح
        توضیح توضیحات شرح_توضیح دلیل
        説明 根拠
    """,
    Field.QUOTES: """
        quotes quote quotations
        citas cita citações citacoes citação zitate zitat kutipan citazioni citazione alıntılar alıntı
        引用 引文 引述 उद्धरण الاقتباسات اقتباسات اقتباس نقل_قول_ها نقل_قولها نقل_قول 引用文
    """,
    Field.CONDITION_ABSENT: """
        condition_absent condition_is_absent
        condición_ausente condicion_ausente condição_ausente condicao_ausente
        bedingung_fehlt bedingung_abwesend bedingung_nicht_vorhanden
        kondisi_tidak_ada syarat_tidak_ada condizione_assente koşul_yok şart_yok
        条件不存在 条件缺失 条件未出现 條件不存在 शर्त_अनुपस्थित الشرط_غائب غياب_الشرط الشرط_غير_موجود
        شرط_غایب عدم_وجود_شرط 条件不在 条件なし
    """,
}
_YES = """
    true yes sí verdadero sim verdadeiro ja wahr ya benar sì vero evet doğru
    是 真 हाँ हां सत्य सही نعم صحيح بله درست はい
"""
_NO = """
    false no falso não nao nein falsch tidak salah hayır yanlış
    否 假 नहीं असत्य गलत لا خطأ خیر نادرست いいえ 偽
"""
_MET = """
    met cumplido satisfecho atendido cumprido erfüllt terpenuhi soddisfatto karşılandı
    满足 符合 滿足 पूरा مستوفى برآورده_شده
"""
_NOT_MET = """
    not_met unmet no_cumplido no_satisfecho não_atendido nao_atendido não_cumprido nicht_erfüllt tidak_terpenuhi
    non_soddisfatto karşılanmadı 不满足 不符合 未满足 不滿足 未滿足 पूरा_नहीं غير_مستوفى برآورده_نشده
"""
_CANNOT_ASSESS = "null none cannot_assess cannot_be_assessed"


class Verdict(StrEnum):
    """What a value of the verdict's key says: met, not met, or that it can't be told (null)."""

    MET = "met"
    NOT_MET = "not_met"
    CANNOT_ASSESS = "cannot_assess"


def folded(word: str) -> str:
    """A key or value as the lists hold it: width, letter case, spaces, `_` and `-` don't matter."""
    plain = unicodedata.normalize("NFKC", word).casefold()
    return "".join(letter for letter in plain if letter not in "_- \t\r\n\u200b\u200c\u200d\ufeff")


def _list(words: str) -> list[str]:
    return [folded(word) for word in words.split()]


FIELD_BY_KEY = {word: field for field, words in _KEYS.items() for word in _list(words)}
_YES_OR_NO = dict.fromkeys(_list(_YES), True) | dict.fromkeys(_list(_NO), False)
_VERDICT_BY_WORD = (
    {word: Verdict.MET if yes else Verdict.NOT_MET for word, yes in _YES_OR_NO.items()}
    | {"1": Verdict.MET, "0": Verdict.NOT_MET}
    | dict.fromkeys(_list(_MET), Verdict.MET)
    | dict.fromkeys(_list(_NOT_MET), Verdict.NOT_MET)
    | dict.fromkeys(_list(_CANNOT_ASSESS), Verdict.CANNOT_ASSESS)
)
LONGEST_WORD = 60
"""No word of the lists is longer (in characters, before folding)."""


def field_of(key: str) -> Field | None:
    """What the key stands for, or None for a key that nobody asked for."""
    return FIELD_BY_KEY.get(folded(key)) if len(key) <= LONGEST_WORD else None


def verdict_of(value: object) -> Verdict | None:
    """What a value of the verdict's key says, or None where the closed list doesn't hold it."""
    if value is None:
        return Verdict.CANNOT_ASSESS
    if isinstance(value, int | float):  # True is 1, False is 0
        return Verdict.MET if value == 1 else Verdict.NOT_MET if value == 0 else None
    if isinstance(value, str) and len(value) <= LONGEST_WORD:
        return _VERDICT_BY_WORD.get(folded(value))
    return None


def is_yes(value: object) -> bool | None:
    """True or False for yes or no in any form of the closed list, None for all else."""
    if isinstance(value, int | float):
        return bool(value) if value in (0, 1) else None
    if isinstance(value, str) and len(value) <= LONGEST_WORD:
        return _YES_OR_NO.get(folded(value))
    return None
