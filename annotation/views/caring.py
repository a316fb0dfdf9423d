"""Care: topics to be spared, *may be a real person*, *this conversation is broken*, and what admins do about it."""

from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods, require_POST

from annotation.care_locks import refuse_if_locked
from annotation.caring import close_report, decide_lock, lock_conversation_for_care, report_conversation
from annotation.caring_forms import LockForm, ReportForm, TopicsForm
from annotation.caring_seen import find_report, find_to_care_for, name_for
from annotation.models import Conversation, ConversationReport, LockDecision, Role
from annotation.permissions import StudyRequest, has_role, study_page
from annotation.topics import decline_topics, to_hand_back, topics_for
from annotation.topics import hand_back as hand_back_conversations
from annotation.views.assignment import find_own_conversation
from annotation.views.desk import as_uuid, desk_address


@require_http_methods(["GET", "HEAD", "POST"])
@study_page(Role.CLINICIAN, consent=False)
def topics(request: StudyRequest) -> HttpResponse:
    """GET: the study's topics, as the person has chosen. POST: the person chooses anew."""
    study, person = request.study, request.user
    form = TopicsForm(request.POST if request.method == "POST" else None, topics=topics_for(study, person))
    if request.method == "POST" and form.is_valid():
        declined = decline_topics(study=study, person=person, topics=form.cleaned_data["topics"])
        if declined:
            messages.success(request, gettext("Saved. What is about these topics no longer comes to you."))
        else:
            messages.success(request, gettext("Saved. You are spared no topic."))
        address = reverse("study_topics", kwargs={"slug": study.slug})
        return HttpResponseRedirect(address, status=HTTPStatus.SEE_OTHER)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    context = {"form": form, "to_hand_back": to_hand_back(study, person)}
    return render(request, "annotation/topics.html", context, status=status)


@require_POST
@study_page(Role.CLINICIAN, consent=False)
def hand_back(request: StudyRequest) -> HttpResponse:
    """Hand back what is assigned already and is about a declined topic: those ticked."""
    ids = {found for value in request.POST.getlist("conversation") if (found := as_uuid(value))}
    handed = hand_back_conversations(study=request.study, person=request.user, conversations=ids)
    if handed:
        told = ngettext(
            "1 conversation is handed back. Nobody asks why.",
            "{count} conversations are handed back. Nobody asks why.",
            len(handed),
        )
        messages.success(request, told.format(count=len(handed)))
    else:
        messages.info(request, gettext("Nothing was handed back."))
    address = reverse("study_topics", kwargs={"slug": request.study.slug})
    return HttpResponseRedirect(address, status=HTTPStatus.SEE_OTHER)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page()
def lock(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """GET: what locking means. POST: lock the conversation for everybody, and tell the care lead."""
    conversation = find_to_care_for(request.study, conversation_id)
    if request.method != "POST":
        refuse_if_locked(conversation.id)
    form = LockForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        lock_conversation_for_care(conversation=conversation, by=request.user, words=form.cleaned_data["words"])
        messages.success(
            request,
            gettext(
                "Thank you. {name} is locked, and who looks after it is told. Take a moment, if you need one."
            ).format(name=name_for(request.user, conversation, capital=True)),
        )
        return _after(request, conversation)
    return _ask(request, "annotation/lock.html", conversation, form)


@require_http_methods(["GET", "HEAD", "POST"])
@study_page()
def report(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """GET: what is wrong with the conversation? POST: tell the admins."""
    conversation = find_to_care_for(request.study, conversation_id)
    if request.method != "POST":
        refuse_if_locked(conversation.id)
    form = ReportForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        report_conversation(
            conversation=conversation,
            by=request.user,
            kind=ConversationReport.Kind(form.cleaned_data["kind"]),
            words=form.cleaned_data["words"],
        )
        messages.success(request, gettext("Thank you. The study's admins look after it."))
        return HttpResponseRedirect(_back(request, conversation), status=HTTPStatus.SEE_OTHER)
    return _ask(request, "annotation/report.html", conversation, form)


def _ask(request: StudyRequest, template: str, conversation: Conversation, form: LockForm | ReportForm) -> HttpResponse:
    context = {
        "conversation": conversation,
        "name": name_for(request.user, conversation),
        "form": form,
        "back": _back(request, conversation),
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    return render(request, template, context, status=status)


def _back(request: StudyRequest, conversation: Conversation) -> str:
    """The desk for who sees the conversation there; who came from judging goes to the study's page."""
    sees_it = Conversation.objects.visible_to(request.user).filter(pk=conversation.pk).exists()
    return desk_address(conversation) if sees_it else reverse("study", kwargs={"slug": request.study.slug})


def _after(request: StudyRequest, conversation: Conversation) -> HttpResponse:
    """Admins go on to the decision; the others, who no longer see the conversation, to the study's page."""
    slug = request.study.slug
    if has_role(request.membership, Role.ADMIN) and not conversation.external_name:
        address = reverse("admin_conversation", kwargs={"slug": slug, "conversation_id": conversation.id})
    else:
        address = reverse("study", kwargs={"slug": slug})
    return HttpResponseRedirect(address, status=HTTPStatus.SEE_OTHER)


# What admins do


@require_POST
@study_page(Role.ADMIN)
def decide(request: StudyRequest, conversation_id: UUID) -> HttpResponse:
    """Release a locked conversation, or leave it locked, with the reason."""
    conversation = find_own_conversation(request.study, conversation_id)
    conversation.study = request.study
    decision = request.POST.get("decision", "")
    if decision not in LockDecision.Decision.values:
        raise Http404(gettext("There is no such decision."))
    decided = decide_lock(
        conversation=conversation,
        by=request.user,
        decision=LockDecision.Decision(decision),
        reason=request.POST.get("reason", ""),
    )
    is_released = decided.decision == LockDecision.Decision.RELEASED
    messages.success(request, gettext("It is released and goes on.") if is_released else gettext("It stays locked."))
    return redirect("admin_conversation", slug=request.study.slug, conversation_id=conversation.id)


@require_POST
@study_page(Role.ADMIN)
def close(request: StudyRequest, report_id: UUID) -> HttpResponse:
    """Close a report with a note of what was done."""
    found = find_report(request.study, report_id)
    close_report(report=found, by=request.user, note=request.POST.get("note", ""))
    messages.success(request, gettext("The report is closed."))
    if found.conversation.external_name:
        return redirect("study_progress", slug=request.study.slug)
    return redirect("admin_conversation", slug=request.study.slug, conversation_id=found.conversation_id)
