"""How an API view reaches a study: the same membership, roles, consent and settling as the pages."""

from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.pagination import CursorPagination
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from annotation.desk import find_criterion
from annotation.joining import must_consent
from annotation.models import Conversation, Criterion, Membership, Study, User
from annotation.permissions import find_conversation, find_study, has_role
from annotation.rounds import settle_if_due


class ByRandomId(CursorPagination):
    """Pages in the order of the random ids, which tells nothing of who did what when."""

    page_size = 100
    max_page_size = 1000
    page_size_query_param = "page_size"
    ordering = "id"

    def decode_cursor(self, request: Request) -> Any:
        cursor = super().decode_cursor(request)
        if cursor is not None and cursor.position is not None:
            try:
                UUID(str(cursor.position))
            except ValueError:
                raise NotFound(self.invalid_cursor_message) from None
        return cursor


class StudyView(APIView):
    """A view below /api/v1/studies/<slug>/. ``roles_for`` names the roles that a method needs; none: any member.

    ``needs_consent``: False for what is read before the consent text is accepted, as on the pages.
    """

    permission_classes = [IsAuthenticated]
    roles_for: ClassVar[dict[str, tuple[str, ...]]] = {}
    needs_consent: ClassVar[bool] = True
    study: Study
    membership: Membership
    person: User

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        assert isinstance(request.user, User)
        self.person = request.user
        self.study, self.membership = find_study(request.user, kwargs["slug"])
        roles = self.roles_for.get(request.method or "", ())
        if roles and not has_role(self.membership, *roles):
            raise PermissionDenied("This is for " + " and ".join(f"{role}s" for role in roles) + ".")
        if self.needs_consent and must_consent(self.study, request.user):
            raise PermissionDenied("The study's consent text comes first: GET and POST the study's consent/.")
        settle_if_due(self.study)

    def find_conversation(self, conversation_id: UUID) -> Conversation:
        return find_conversation(self.person, self.study, conversation_id)

    def find_criterion(self, criterion_id: UUID) -> Criterion:
        return find_criterion(self.person, self.study, criterion_id)

    def page(self, rows: "QuerySet[Any]", serializer: "type[BaseSerializer[Any]]", **context: Any) -> Response:
        """One page of rows, each as ``serializer`` says it."""
        paginator = ByRandomId()
        found = paginator.paginate_queryset(rows, self.request, view=self)
        return paginator.get_paginated_response(serializer(found, many=True, context=context).data)


class PagedView(StudyView):
    """A view whose list comes in pages (``page``), and is described so in the API's schema."""

    pagination_class = ByRandomId


def checked(serializer: "BaseSerializer[Any]") -> dict[str, Any]:
    """The input, checked; 400 with a sentence a field else."""
    serializer.is_valid(raise_exception=True)
    data: dict[str, Any] = serializer.validated_data
    return data
