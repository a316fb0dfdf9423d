"""Which languages and countries a person, a conversation or a study may name, however it came in.

A language is a tag of BCP 47, at most 35 characters; a country the two letters of ISO 3166-1 (and of Kosovo).
"""

import re

from django.utils.translation import gettext

from consilium.errors import RuleViolation

LONGEST_TAG = 35
_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")
_WRITTEN = """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
    CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
    GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO
    JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR
    MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO
    RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV
    TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW XK
"""
COUNTRIES = frozenset(_WRITTEN.split())
_OFTEN_MEANT = {"UK": "GB", "EL": "GR", "EN": "GB"}


class LanguageIsUnreadable(RuleViolation):
    """ "{tag}" is no language tag. Write tags such as en, es-MX, zh-Hans."""


class CountryIsUnreadable(RuleViolation):
    """ "{country}" is no country's two letters. Write letters such as DE or BR.{hint}"""


def is_language_tag(text: str) -> bool:
    """Whether a text has the form of a language tag."""
    return len(text) <= LONGEST_TAG and _TAG.fullmatch(text) is not None


def is_country(code: str) -> bool:
    """Whether two capitals are those of a country."""
    return code in COUNTRIES


def hint_of_country(code: str) -> str:
    """Which country is often meant by two letters that are none's: a sentence, or nothing."""
    if code not in _OFTEN_MEANT:
        return ""
    return " " + gettext("Perhaps {country} is meant.").format(country=_OFTEN_MEANT[code])


def check_language(tag: str) -> None:
    """Raise LanguageIsUnreadable where a text is no language tag."""
    if not is_language_tag(tag):
        raise LanguageIsUnreadable(tag=tag[:40])


def check_country(code: str) -> None:
    """Raise CountryIsUnreadable where capitals are no country's."""
    if not is_country(code):
        raise CountryIsUnreadable(country=code[:40], hint=hint_of_country(code))
