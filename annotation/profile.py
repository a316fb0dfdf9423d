"""What a person declares of themselves: for all studies, and by nobody else once it is there.

The name shows to the study's admins and, where a policy shows names, after a reveal. Languages, country, profession and
speciality decide which conversations are assigned; what is assigned already stays.
"""

from collections.abc import Iterable

from django.conf import settings

from annotation.joining import LONGEST, TooLong
from annotation.languages_and_countries import check_country, check_language
from annotation.models import Digests, User
from annotation.time_zones import check_zone
from consilium.errors import RuleViolation


class NoSuchPageLanguage(RuleViolation):
    """Pages and mail don't come in this language."""


class NoSuchRhythm(RuleViolation):
    """Mail comes daily, weekly or never (off)."""


def describe_yourself(
    *,
    person: User,
    name: str,
    languages: Iterable[str] = (),
    country: str = "",
    profession: str = "",
    speciality: str = "",
    time_zone: str | None = None,
    page_language: str | None = None,
    digests: str | None = None,
) -> User:
    """Write down what a person says of themselves, all of it. Nothing said of languages means that all are read.

    The time zone, the language of pages and mail, and how often mail comes stay as they are where they are None.
    Raises TooLong, LanguageIsUnreadable, CountryIsUnreadable, ZoneIsUnknown, NoSuchPageLanguage, NoSuchRhythm.
    """
    texts = {"name": name.strip(), "profession": profession.strip(), "speciality": speciality.strip()}
    for field, text in texts.items():
        if len(text) > LONGEST[field]:
            raise TooLong(what=field, longest=LONGEST[field], found=len(text))
    tags = list(dict.fromkeys(tag.strip() for tag in languages if tag.strip()))
    for tag in tags:
        check_language(tag)
    letters = country.strip().upper()
    if letters:
        check_country(letters)
    if time_zone is not None:
        check_zone(time_zone)
    if page_language and page_language not in dict(settings.LANGUAGES):
        raise NoSuchPageLanguage
    if digests is not None and digests not in Digests.values:
        raise NoSuchRhythm
    chosen = {"time_zone": time_zone, "page_language": page_language, "digests": digests}
    said = {**texts, **{field: value for field, value in chosen.items() if value is not None}}
    for field, text in said.items():
        setattr(person, field, text)
    person.languages, person.country = tags, letters
    person.save(update_fields=[*said, "languages", "country"])
    return person
