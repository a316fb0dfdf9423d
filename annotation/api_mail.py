"""The one click by which a mail program stops mail (RFC 8058): nobody is signed in, the token names the person."""

from django.http import Http404, HttpResponseRedirect
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.opting_out import stop_mail, whose


class StopMail(APIView):
    """POST stops digests and reminders of the person whom the token names. GET leads to the page that asks."""

    permission_classes = [AllowAny]
    authentication_classes = []

    @extend_schema(operation_id="mail_stop_page", responses={302: None})
    def get(self, request: Request, token: str) -> HttpResponseRedirect:
        return HttpResponseRedirect(reverse("stop_mail", kwargs={"token": token}))

    @extend_schema(operation_id="mail_stop", request=None, responses={204: None})
    def post(self, request: Request, token: str) -> Response:
        person = whose(token)
        if person is None:
            raise Http404("This link stops nobody's mail.")
        stop_mail(person=person)
        return Response(status=204)
