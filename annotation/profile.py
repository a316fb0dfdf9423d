"""What a person declares of themselves: for all studies, and by nobody else once it is there.

The name shows to the study's admins and, where a policy shows names, after a reveal. Languages, country, profession and
speciality decide which conversations are assigned; what is assigned already stays.
"""

from collections.abc import Iterable

from annotation.joining import LONGEST, TooLong
from annotation.languages_and_countries import check_country, check_language
from annotation.models import User


def describe_yourself(
    *,
    person: User,
    name: str,
    languages: Iterable[str] = (),
    country: str = "",
    profession: str = "",
    speciality: str = "",
) -> User:
    """Write down what a person says of themselves, all of it. Nothing said of languages means that all are read.

    Raises TooLong, LanguageIsUnreadable, CountryIsUnreadable.
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
    for field, text in texts.items():
        setattr(person, field, text)
    person.languages, person.country = tags, letters
    person.save(update_fields=[*texts, "languages", "country"])
    return person
