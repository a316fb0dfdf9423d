"""The page on which a person says who they are: name, languages, country, profession, speciality."""

from http import HTTPStatus

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.forms import YouForm
from annotation.models import Role, Study, User
from annotation.profile import describe_yourself
from consilium.pages import signed_in


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def you(request: HttpRequest) -> HttpResponse:
    """GET: what is known of the person. POST: the person says it anew."""
    person = request.user
    assert isinstance(person, User)
    known = {
        "name": person.name,
        "languages": ", ".join(person.languages),
        "country": person.country,
        "profession": person.profession,
        "speciality": person.speciality,
        "time_zone": person.time_zone,
        "page_language": person.page_language,
        "digests": person.digests,
    }
    form = YouForm(request.POST or None, initial=known)
    if request.method == "POST" and form.is_valid():
        describe_yourself(person=person, **form.cleaned_data)
        messages.success(request, "What you said of yourself is saved.")
        return redirect("you")
    status = HTTPStatus.UNPROCESSABLE_ENTITY if form.errors else HTTPStatus.OK
    studies = Study.objects.filter(
        memberships__user=person, memberships__left_at=None, memberships__roles__contains=[Role.CLINICIAN]
    ).order_by("name")
    mine = Study.objects.visible_to(person).order_by("name")
    context = {"form": form, "studies": studies, "all_studies": mine}
    return render(request, "annotation/you.html", context, status=status)
