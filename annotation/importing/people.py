"""The people whom a file names, by their e-mail address in any letter case."""

from annotation.importing.rows import FileRow
from annotation.models import Membership, Role, Study, User


class People:
    """Everybody who is or was in a study, found without a query a row."""

    def __init__(self, study: Study) -> None:
        self._memberships = {
            membership.user.email.lower(): membership
            for membership in Membership.objects.filter(study=study).select_related("user")
        }

    def member(self, row: FileRow, column: str) -> User | None:
        """Whom the row names, in the study now or before; None for nobody, or for somebody unknown (an error)."""
        membership = self._find(row, column)
        return membership.user if membership else None

    def clinician(self, row: FileRow, column: str) -> User | None:
        """The clinician whom the row names; else None, and an error."""
        if not row.has(column):
            row.error(column, "Expected a clinician's e-mail address, found nothing.")
            return None
        membership = self._find(row, column)
        if membership is None:
            return None
        if membership.left_at or not membership.user.is_active or Role.CLINICIAN not in membership.roles:
            row.error(column, f"Expected a clinician of this study; {membership.user.email} is none.")
            return None
        return membership.user

    def _find(self, row: FileRow, column: str) -> Membership | None:
        address = row.name(column)
        if not address:
            return None
        membership = self._memberships.get(address.lower())
        if membership is None:
            row.error(column, f"Expected the address of somebody in this study; nobody has “{address}”.")
        return membership
