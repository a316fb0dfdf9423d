"""Copying a study: its settings, its rule of consensus, its axes and guidelines, under another name.

People, conversations, criteria and votes stay where they are; who copies becomes the admin of the copy. What was
recorded about the other study's texts (who de-identified them, the legal basis for graders outside) holds for those
texts alone: it is recorded anew.
"""

from typing import Any

from django.db import transaction

from annotation.joining import create_study
from annotation.models import Study, User
from annotation.setting_up import SETTINGS, clean_setting, set_up_study, settings_of

ABOUT_ITS_OWN = ("name", "attestation", "outside_endpoints_basis", "care_lead")
"""Settings that a copy doesn't take over."""
COPIED = tuple(name for name in SETTINGS if name not in ABOUT_ITS_OWN)


def copy_study(
    *, source: Study, slug: str, name: str, attestation: str = "", by: User | None, **settings: Any
) -> Study:
    """Make a study like another one; ``settings`` stand in place of the other's.

    Raises AttestationMissing where its texts are de-identified and none is given, and what making and setting up raise.
    """
    with transaction.atomic():
        source = Study.objects.get(pk=source.pk)
        facts = {**{each: value for each, value in settings_of(source).items() if each in COPIED}, **settings}
        study = create_study(
            slug=slug,
            name=clean_setting("name", name),
            text_class=facts.pop("text_class"),
            attestation=clean_setting("attestation", attestation),
            like=source.policy,
            by=by,
        )
        set_up_study(study=study, by=by, **facts)
    return study
