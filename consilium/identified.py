"""Rows are named by random UUIDs: an id that anybody sees can't be guessed and tells no order."""

import uuid

from django.db import models


class Identified(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    class Meta:
        abstract = True
