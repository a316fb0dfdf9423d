"""An admin ends the work on an unsettled criterion: recorded with its reason, never consensus, never frozen."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotation.discussing import adjudicate
from annotation.models import Criterion, Role
from annotation.permissions import StudyRequest, study_page


@require_POST
@study_page(Role.ADMIN)
def adjudicate_criterion(request: StudyRequest, criterion_id: UUID) -> HttpResponse:
    """Record that a criterion of the study is adjudicated."""
    criterion = Criterion.objects.own().filter(study=request.study, pk=criterion_id).first()
    if criterion is None:
        raise Http404("There is no such criterion in this study.")
    adjudicate(criterion=criterion, by=request.user, reason=request.POST.get("reason", ""))
    messages.success(request, f"{criterion.external_id} is adjudicated.")
    return redirect("admin_conversation", slug=request.study.slug, conversation_id=criterion.conversation_id)
