"""Trying a criterion out: pilot responses brought for a conversation, and the marks that reviewers give on them.

A mark is as blind as a vote: until the reveal of the wording that it is about, its owner alone knows of it. (Nothing
here has to do with the grader that is tried on a response, grading.trying.)
"""

import pgtrigger
from django.db import models
from django.db.models import Exists, Func, OuterRef, Value

from annotation.models.conversations import Conversation, FileImport
from annotation.models.criteria import Revision
from annotation.models.people import User
from annotation.models.studies import Study
from consilium.guards import BLANK, SHA256, Guard, holds_when_written, never_changes, never_emptied
from consilium.identified import Identified

SHOWN = 2
"""So many pilot responses of a conversation are shown: those with the lowest numbers."""


class PilotResponseQuerySet(models.QuerySet["PilotResponse"]):
    def shown(self) -> "PilotResponseQuerySet":
        """The two of each conversation that its reviewers mark, in order."""
        return self.filter(number__lte=SHOWN).order_by("conversation", "number")


class PilotResponse(Identified):
    """A response that the panel tries its criteria on. Who wrote it (``source``) no reviewer sees.

    ``number`` counts within the conversation: what is brought later never takes the place of what is shown, and within
    a file the order is that of the texts' digests, which tells nothing of who wrote them.
    """

    study = models.ForeignKey(Study, on_delete=models.PROTECT, related_name="+")
    conversation = models.ForeignKey(Conversation, on_delete=models.PROTECT, related_name="pilot_responses")
    number = models.PositiveIntegerField()
    external_id = models.CharField(max_length=500, blank=True, help_text="Its id in the file, trimmed, NFC.")
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64, help_text="Of the text in NFC, line ends as LF, trimmed.")
    source = models.CharField(max_length=500, blank=True, help_text="Where it is from, for no reviewer's eyes.")
    imported_from = models.ForeignKey(FileImport, on_delete=models.PROTECT, related_name="+")

    objects = PilotResponseQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["conversation", "number"], name="pilot_responses_are_numbered"),
            models.UniqueConstraint(
                fields=["conversation", "text_sha256"], name="a_pilot_response_is_brought_once_a_conversation"
            ),
            models.UniqueConstraint(
                fields=["study", "external_id"],
                condition=~models.Q(external_id=""),
                name="an_id_names_one_pilot_response_of_a_study",
            ),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="pilot_responses_count_from_1"),
            models.CheckConstraint(condition=~models.Q(text__regex=BLANK), name="a_pilot_response_says_something"),
            models.CheckConstraint(
                condition=models.Q(text_sha256__regex=SHA256), name="a_pilot_responses_hash_is_64_hex_digits"
            ),
        ]
        triggers = [
            *never_changes(),
            holds_when_written(
                """
                EXISTS (
                    SELECT FROM public.annotation_conversation
                     WHERE id = NEW.conversation_id AND study_id = NEW.study_id AND external_name = ''
                )
                """,
                name="pilot_responses_are_of_own_conversations",
                what="a pilot response is of a conversation of its study, and of no external one",
            ),
        ]

    def __str__(self) -> str:
        return f"pilot response {self.number} of {self.conversation}"


class PilotMark(Identified):
    """One reviewer's mark: is a wording met in a pilot response? Its owner may change it until the reveal."""

    class Mark(models.TextChoices):
        MET = "met", "met"
        NOT_MET = "not_met", "not met"
        CANT_TELL = "cant_tell", "can't tell"

    wording = models.ForeignKey(Revision, on_delete=models.PROTECT, related_name="pilot_marks")
    response = models.ForeignKey(PilotResponse, on_delete=models.PROTECT, related_name="marks")
    reviewer = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    mark = models.CharField(max_length=10, choices=Mark)
    given_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["wording", "response", "reviewer"], name="one_mark_a_wording_response_and_reviewer"
            ),
            models.CheckConstraint(
                condition=models.Q(mark__in=["met", "not_met", "cant_tell"]),
                name="a_mark_is_met_not_met_or_cant_tell",
            ),
        ]
        triggers = [
            # A wording that a reveal has decided takes no mark any more: its marks are known by then.
            Guard(
                name="marks_are_given_and_changed_until_the_reveal",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete,
                declare=[("this", "record"), ("held", "record"), ("place", "uuid")],
                func="""
                    IF TG_OP = 'DELETE' THEN this := OLD; ELSE this := NEW; END IF;
                    IF TG_OP = 'UPDATE' AND (OLD.id, OLD.wording_id, OLD.response_id, OLD.reviewer_id)
                       IS DISTINCT FROM (NEW.id, NEW.wording_id, NEW.response_id, NEW.reviewer_id) THEN
                        RAISE EXCEPTION 'a mark keeps its wording, response and reviewer' USING ERRCODE = '23001';
                    END IF;
                    SELECT conversation_id INTO place FROM public.annotation_pilotresponse WHERE id = this.response_id;
                    SELECT revealed_at, closes_at INTO held FROM public.annotation_round
                        WHERE conversation_id = place AND revealed_at IS NULL FOR SHARE;
                    IF FOUND AND public.consilium_round_is_revealed(held.revealed_at, held.closes_at)
                       OR EXISTS (SELECT FROM public.annotation_roundoutcome WHERE wording_id = this.wording_id) THEN
                        RAISE EXCEPTION 'the wording is revealed: no mark is given, changed or deleted'
                            USING ERRCODE = '23001', CONSTRAINT = 'marks_are_given_and_changed_until_the_reveal';
                    END IF;
                    IF TG_OP = 'INSERT' AND NOT EXISTS (
                        SELECT FROM public.annotation_revision AS wording
                          JOIN public.annotation_criterion AS criterion ON criterion.id = wording.criterion_id
                         WHERE wording.id = NEW.wording_id AND wording.same_wording_as_id IS NULL
                           AND criterion.conversation_id = place
                    ) THEN
                        RAISE EXCEPTION 'a mark is about a wording of the conversation that its response is of'
                            USING ERRCODE = '23514', CONSTRAINT = 'a_mark_is_about_a_wording_of_its_conversation';
                    END IF;
                    IF TG_OP = 'INSERT' AND NOT EXISTS (
                        SELECT FROM public.annotation_assignment
                         WHERE conversation_id = place AND reviewer_id = NEW.reviewer_id AND recused_at IS NULL
                    ) THEN
                        RAISE EXCEPTION 'who marks is assigned to the conversation'
                            USING ERRCODE = '23514', CONSTRAINT = 'who_marks_is_assigned_to_the_conversation';
                    END IF;
                    RETURN this;
                """,
            ),
            never_emptied(),
        ]

    def __str__(self) -> str:
        return f"a mark on {self.response}"


# What served as a pilot, for a sample that must not hold it

WHITE = r"[\u0009-\u000d\u001c-\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
"""One white space, as Python's ``str.strip`` has it (consilium.guards.BLANK)."""


def _sha256_of(text: models.expressions.Combinable) -> Func:
    """SQL: the digest of a text as ``PilotResponse.text_sha256`` has it."""
    lines = Func(text, Value(r"\r\n?"), Value("\n"), Value("g"), function="regexp_replace")
    trimmed = Func(
        Func(lines, template="normalize(%(expressions)s, NFC)"),
        Value(f"^{WHITE}+|{WHITE}+$"),
        Value(""),
        Value("g"),
        function="regexp_replace",
    )
    return Func(
        trimmed,
        template="encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')",
        output_field=models.CharField(),
    )


def served_as_pilot(*, conversation: str = "conversation", text: str = "text") -> Exists:
    """For a query over responses of any kind: was this text a pilot of that conversation, shown or not?

    What the panel has tried its criteria on is no fair pair of an audit: ``responses.exclude(served_as_pilot())``.
    ``conversation`` and ``text`` name the columns. Texts are compared in NFC, line ends as LF, trimmed.
    """
    return Exists(
        PilotResponse.objects.filter(conversation=OuterRef(conversation), text_sha256=_sha256_of(OuterRef(text)))
    )
