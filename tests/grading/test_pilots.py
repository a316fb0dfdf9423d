"""What the panel tried its criteria on is known among the responses: a sample for an audit can leave it out."""

import pytest

from annotation.models.trials import served_as_pilot
from grading.models import Response
from tests.annotation.test_trying import bring
from tests.factories import make_conversation, make_panel
from tests.grading.making import make_response

pytestmark = pytest.mark.django_db


def test_a_response_with_the_text_of_a_pilot_of_its_conversation_is_known() -> None:
    panel = make_panel()
    one, two = (make_conversation(study=panel.study, external_id=name) for name in ("one", "two"))
    bring(panel, one, "Schlaf schön,\nüber Nacht.", "Another.", "A third, which nobody is shown.")
    texts = {
        "same": "Schlaf schön,\nüber Nacht.",
        "lines": "  Schlaf scho\u0308n,\r\nüber Nacht. \n",
        "third": "A third, which nobody is shown.",
        "other": "Schlaf schön, über Nacht.",
        "blank": " ",
    }
    for respondent, text in texts.items():
        make_response(conversation=one, respondent=respondent, text=text)
    make_response(conversation=two, respondent="elsewhere", text=texts["same"])
    pilots = Response.objects.filter(served_as_pilot()).values_list("respondent__name", flat=True)
    assert set(pilots) == {"same", "lines", "third"}
    rest = Response.objects.exclude(served_as_pilot()).values_list("respondent__name", flat=True)
    assert set(rest) == {"other", "blank", "elsewhere"}
