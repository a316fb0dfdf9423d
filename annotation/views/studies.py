"""The entrance: my studies, a study's front page, its consent text and guidelines, the pause, and the demo's way in."""

from http import HTTPStatus
from uuid import UUID

from django.conf import settings
from django.contrib.auth import login
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from annotation.demo import demo_people, demo_study
from annotation.joining import ConsentTextChanged, accept_consent, must_consent
from annotation.models import Conversation, Membership, Role, User
from annotation.permissions import StudyRequest, has_role, may_make_studies, study_page
from annotation.practising import Practice, lead_to_practice, practice_of
from annotation.setting_up import missing_before_start
from annotation.views.desk import as_uuid, desk_address
from annotation.workload import as_assigned, assigned_to, parts_of
from consilium.pages import public_page, signed_in

ROWS_A_PAGE = 50


@require_GET
@signed_in
def my_studies(request: HttpRequest) -> HttpResponse:
    """The studies that a person belongs to, with the roles there and one next thing each."""
    assert isinstance(request.user, User)
    memberships = list(
        Membership.objects.filter(user=request.user, left_at=None).select_related("study").order_by("study__name")
    )
    parts = parts_of(request.user, [membership.study for membership in memberships])
    entries = [(membership, parts[membership.study_id]) for membership in memberships]
    context = {"entries": entries, "may_make_studies": may_make_studies(request.user)}
    return render(request, "annotation/my_studies.html", context)


@public_page
def demo_sign_in(request: HttpRequest) -> HttpResponse:
    """The demo's own way in, without a code: only where the demo is switched on."""
    if not settings.DEMO:
        raise Http404(gettext("There is no demo here."))
    people = demo_people()
    if request.method == "POST":
        person = next((person for role, person in people if role == request.POST.get("role")), None)
        if person is None:
            raise Http404(gettext("The demo has nobody in this role."))
        login(request, person, backend=settings.AUTHENTICATION_BACKENDS[0])
        study = demo_study()
        address = reverse("study", kwargs={"slug": study.slug}) if study else reverse("my_studies")
        return HttpResponseRedirect(address, status=HTTPStatus.SEE_OTHER)
    return render(request, "annotation/demo_sign_in.html", {"people": people})


@require_GET
@study_page(consent=False)
def show_study(request: StudyRequest) -> HttpResponse:
    """The study's front page: what to expect of its texts, whom to turn to, and the person's own part."""
    part = parts_of(request.user, [request.study])[request.study.id]
    is_clinician = has_role(request.membership, Role.CLINICIAN)
    context = {
        "part": part,
        "practice": practice_of(request.study, request.user) if is_clinician else Practice([], None),
        "must_consent": must_consent(request.study, request.user),
        "missing": missing_before_start(request.study) if has_role(request.membership, Role.ADMIN) else [],
    }
    return render(request, "annotation/study.html", context)


@require_GET
@study_page(Role.CLINICIAN)
def go_on(request: StudyRequest) -> HttpResponse:
    """Continue: to the conversation that waits and comes first, else to the list; for who is new, to practice first."""
    if lead_to_practice(study=request.study, person=request.user):
        return redirect("practice", slug=request.study.slug)
    conversation_id = parts_of(request.user, [request.study])[request.study.id].next()
    if conversation_id is None:
        return redirect("study_conversations", slug=request.study.slug)
    return redirect("desk", slug=request.study.slug, conversation_id=conversation_id)


@study_page(consent=False)
def consent(request: StudyRequest) -> HttpResponse:
    """The consent text, and accepting it: its version and the time are kept.

    Who accepts names the version that was read; where the text has changed meanwhile, the new one is shown instead.
    """
    study, has_changed = request.study, False
    if request.method == "POST" and study.consent_text.strip():
        read = request.POST.get("version", "")
        try:
            accept_consent(study=study, person=request.user, seen=int(read) if read.isdecimal() else None)
        except ConsentTextChanged:
            has_changed = True
        else:
            address = reverse("study", kwargs={"slug": study.slug})
            return HttpResponseRedirect(address, status=HTTPStatus.SEE_OTHER)
    context = {
        "accepted": request.user.consents.filter(study=study, text_version=study.consent_version).first(),
        "has_changed": has_changed,
    }
    status = HTTPStatus.CONFLICT if has_changed else HTTPStatus.OK
    return render(request, "annotation/consent.html", context, status=status)


@require_GET
@study_page(consent=False)
def guidelines(request: StudyRequest) -> HttpResponse:
    """The guidelines, and the way back to where one was (``from``, as for a pause)."""
    return render(request, "annotation/guidelines.html", {"back": _way_back(request)})


@require_GET
@study_page(consent=False)
def pause(request: StudyRequest) -> HttpResponse:
    """A page without any text of the study: whom to talk to, and a way back to where one was."""
    return render(request, "annotation/pause.html", {"back": _way_back(request)})


def _way_back(request: StudyRequest) -> str:
    """Where ``from`` leads: it is a conversation's id, or the path of another page of this study; else ''."""
    given = request.GET.get("from", "")
    conversation = _own_conversation(request, as_uuid(given))
    pages = reverse("study", kwargs={"slug": request.study.slug})
    is_page = given.startswith(pages) and url_has_allowed_host_and_scheme(given, allowed_hosts=None)
    return desk_address(conversation) if conversation else given if is_page else ""


def _own_conversation(request: StudyRequest, conversation_id: UUID | None) -> Conversation | None:
    if conversation_id is None:
        return None
    return (
        Conversation.objects.visible_to(request.user)
        .filter(study=request.study, pk=conversation_id)
        .select_related("study")
        .first()
    )


@require_GET
@study_page(Role.CLINICIAN)
def list_conversations(request: StudyRequest) -> HttpResponse:
    """The conversations assigned to a clinician, what waits first, with what is left in each."""
    rows = assigned_to(request.user, [request.study])
    page = Paginator(rows, ROWS_A_PAGE).get_page(request.GET.get("page"))
    return render(
        request,
        "annotation/conversations.html",
        {
            "page": page,
            "rows": as_assigned(page),
            "part": parts_of(request.user, [request.study])[request.study.id],
            "has_recused": "recused" in request.GET,
        },
    )
