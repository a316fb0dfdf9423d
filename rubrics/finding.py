"""Finding a study's rubric version by its address: the number of an own one, the name of an external one."""

from annotation.models import Study
from consilium.errors import RuleViolation
from rubrics.models import RubricVersion


class NoSuchVersion(RuleViolation):
    """The study has no rubric version "{address}"."""


def find_version(study: Study, address: str) -> RubricVersion:
    """Answer the version that ``address`` names, a name in any letter case. Raises NoSuchVersion.

    A name is never all digits, so that nothing is both.
    """
    wanted = address.strip()
    versions = RubricVersion.objects.filter(study=study)
    if wanted.isascii() and wanted.isdigit():
        found = versions.filter(number=int(wanted)).first() if len(wanted) <= 9 else None
    else:
        found = versions.filter(kind=RubricVersion.Kind.EXTERNAL, name__iexact=wanted).first()
    if found is None:
        raise NoSuchVersion(address=address)
    return found


def newest_own_version(study: Study) -> RubricVersion | None:
    """The study's own version of the highest number."""
    return RubricVersion.objects.consensus().filter(study=study).order_by("-number").first()
