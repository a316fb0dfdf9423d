"""People with votes are deactivated, not deleted: they no longer sign in, and nothing waits for them any more.

Their votes in revealed rounds stay as they were; those in open rounds no longer count. Others get their work.
"""

from django.db import transaction

from annotation.assigning import hand_work_over
from annotation.locks import hold_study
from annotation.models import Study, User
from annotation.rounds import settle, settle_if_due


def deactivate_person(*, person: User) -> bool:
    """End a person's access and settle what waited for that person. False: it had ended already."""
    with transaction.atomic():
        studies = list(Study.objects.filter(memberships__user=person, memberships__left_at=None).order_by("id"))
        for study in studies:
            hold_study(study.id)
            settle_if_due(study)
        changed = User.objects.filter(pk=person.pk, is_active=True).update(is_active=False)
        for study in studies if changed else []:
            hand_work_over(study=study, person=person)
            settle(study)
    return bool(changed)


def reactivate_person(*, person: User) -> bool:
    """Let a person in again. False: nothing had to be done."""
    return bool(User.objects.filter(pk=person.pk, is_active=False).update(is_active=True))
