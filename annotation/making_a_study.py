"""Making a study: its name and short name, its rule, what its texts are, and its settings, all or none.

Who makes it becomes its admin. What is left out can be set later; the study's page says what is still missing.
"""

from typing import Any

from django.db import transaction

from annotation.joining import create_study
from annotation.models import Study, TextClass, User
from annotation.setting_up import clean_setting, set_up_study


def make_study(
    *,
    slug: str,
    name: str,
    preset: str = "three-agree",
    text_class: str = TextClass.SYNTHETIC,
    attestation: str = "",
    by: User | None,
    **settings: Any,
) -> Study:
    """Make a study with its settings (annotation.setting_up). Raises what making and setting up raise."""
    with transaction.atomic():
        study = create_study(
            slug=slug,
            name=clean_setting("name", name),
            preset=preset,
            text_class=text_class,
            attestation=clean_setting("attestation", attestation),
            by=by,
        )
        set_up_study(study=study, by=by, **settings)
    return study
