"""What somebody is typing and has not sent yet: seen by nobody else, part of no record, gone once it is sent."""

from django.db import models

from annotation.models.conversations import Conversation
from annotation.models.people import User
from consilium.identified import Identified


class UnsentText(Identified):
    """The fields of one form, as typed so far: {name: [value, ...]}. ``place`` says which form of the conversation."""

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="+")
    place = models.CharField(max_length=60)
    fields = models.JSONField()
    kept_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person", "conversation", "place"], name="one_unsent_text_a_person_and_place"
            ),
        ]

    def __str__(self) -> str:
        return f"unsent in {self.place}"
