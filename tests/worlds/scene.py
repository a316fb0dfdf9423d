"""The study that is looked at: a conversation in every state; and one reviewer's hidden votes, others in each world."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.test import Client
from django.utils import timezone
from rest_framework.authtoken.models import Token

from annotation.assigning import assign_reviewer
from annotation.caring import report_conversation
from annotation.discussing import add_comment
from annotation.drafting import revise_criterion
from annotation.importing.pilot_responses import import_pilot_responses
from annotation.joining import add_member
from annotation.models import (
    Comment,
    Conversation,
    ConversationReport,
    Criterion,
    PilotMark,
    PilotResponse,
    Round,
    User,
    Vote,
)
from annotation.previewing_assignment import preview_assignment
from annotation.round_acts import close_drafting, open_round
from annotation.trying import mark_pilot_response
from annotation.unsent import keep_unsent
from annotation.voting import Ballot, cast_vote, take_back_vote
from annotation.waves import plan_waves
from annotation.writing_practice import ExampleFacts, add_example
from grading.graders import register_grader
from grading.runs import start_run
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version, mark_of, preview_freeze
from tests.factories import Panel, draft, make_conversation, make_panel, make_voting, vote
from tests.grading.graded_runs import grade_all_pairs, judge_pairs, make_response
from tests.importing_files import jsonl

WORLDS = ("mild", "stern", "silent")
"""Ben agrees with everything; he objects, abstains, recuses and thinks again; he has done nothing."""
CLINICIAN, ADMIN, RESEARCHER, ADMIN_WHO_REVIEWS = "chloe", "adam", "rita", "eva"
READERS = (CLINICIAN, ADMIN, RESEARCHER, ADMIN_WHO_REVIEWS)
EXAMPLE = ExampleFacts(
    messages=[{"role": "user", "content": "I can't sleep."}],
    criterion="Asks about sleep.",
    is_wanted=True,
    choice="abstain",
    feedback="Because.",
)
WORK = ("Asks about work.", "Asks about the work.")
NO_ADMINS = (CLINICIAN, RESEARCHER)
"""They may not even learn that somebody has voted; an admin sees who has finished, never what."""


@dataclass
class Scene:
    """One study with a conversation in every state; Ben has still to vote in the open rounds, Dev and Eva too."""

    panel: Panel
    criteria: dict[str, Criterion]
    conversations: dict[str, Any]
    run: Any
    version: Any
    objection: Vote
    standing_objection: Vote
    """One in a conversation that is in discussion: it can be accepted."""
    revisions: dict[str, UUID]
    plan: str
    """The mark of what assigning five reviewers would do."""
    seen: str
    """The mark of what the freeze page shows."""
    acknowledged: list[str]
    frozen_criterion: UUID
    example: UUID
    """The study's one practice example."""
    pilot: UUID
    """A pilot response of the conversation with the first open round."""
    response: UUID
    moment: datetime
    sessions: dict[str, str] = field(default_factory=dict)

    @property
    def later(self) -> datetime:
        """A date that lies ahead."""
        return self.moment + timedelta(days=3)

    @property
    def open_criteria(self) -> list[Criterion]:
        return [self.criteria[name] for name in ("sleep", "helpline", "twice", "meals")]


def set_the_scene() -> Scene:
    panel = make_panel(slug="worlds", guidelines="One claim.", support_contact="Duty lead")
    add_member(study=panel.study, email=panel.eva.email, roles=["admin"])
    criteria = {}
    first = make_conversation(study=panel.study, external_id="one")
    for reviewer in [panel.ana, *panel.reviewers]:
        assign_reviewer(conversation=first, reviewer=reviewer)
    for name, writer in {"sleep": panel.ana, "helpline": panel.ana, "twice": panel.chloe}.items():
        criteria[name] = draft(conversation=first, writer=writer, text=f"Asks about {name}.")
    close_drafting(conversation=first, by=panel.adam)
    vote(criterion=criteria["sleep"], reviewer=panel.chloe, points=4)

    second, (disputed,), _ = make_voting(panel=panel, texts=["Asks about food."], external_id="two")
    for reviewer in panel.reviewers:
        objects = reviewer == panel.chloe
        vote(criterion=disputed, reviewer=reviewer, choice="object" if objects else "agree", category="unsafe")
    disputed.refresh_from_db()
    assert disputed.current_revision is not None
    add_comment(criterion=disputed, author=panel.dev, text="Which food?")
    revise_criterion(
        criterion=disputed, against=disputed.current_revision, by=panel.ana, text="Asks about meals.", points=4
    )
    open_round(conversation=second, by=panel.adam)
    criteria["meals"] = disputed
    vote(criterion=disputed, reviewer=panel.chloe, points=6)

    third, (criteria["settled"],), _ = make_voting(panel=panel, texts=["Asks about help."], external_id="three")
    for reviewer in panel.reviewers:
        vote(criterion=criteria["settled"], reviewer=reviewer)
    talked, alike, _ = make_voting(
        panel=panel, texts=["Asks about work.", "Asks about the work."], external_id="talked"
    )
    criteria["talked"], criteria["alike"] = alike
    for reviewer in panel.reviewers:
        vote(criterion=criteria["talked"], reviewer=reviewer, choice="object" if reviewer == panel.dev else "abstain")
        vote(criterion=criteria["alike"], reviewer=reviewer, choice="abstain")
    fourth = make_conversation(study=panel.study, external_id="four")
    for reviewer in (panel.ben, panel.chloe, panel.dev):
        assign_reviewer(conversation=fourth, reviewer=reviewer)
    criteria["drafted"] = draft(conversation=fourth, writer=panel.chloe, text="Asks who is there.")
    report_conversation(conversation=first, by=panel.dev, kind=ConversationReport.Kind.OTHER, words="Who is speaking?")
    version = freeze_version(study=panel.study, by=panel.adam, note="", acknowledged=ACKNOWLEDGE_ALL)

    for conversation in (first, second):
        bring_pilots(panel, conversation)
    for name in ("model-a", "model-b"):
        make_response(version=version, respondent=name)
    grader = register_grader(
        study=panel.study, name="judge", base_url="http://127.0.0.1:9/v1", model="m", on_page=False
    )
    run = start_run(study=panel.study, version=version, grader=grader, by=panel.rita)
    judge_pairs(pairs=grade_all_pairs(run=run, skip=1), reviewer=panel.dev, verdicts="mn")
    later, (criteria["later"],), _ = make_voting(panel=panel, texts=["Asks who helps."], external_id="later")
    for reviewer in panel.reviewers:
        vote(criterion=criteria["later"], reviewer=reviewer)
    for name in ("fifth", "sixth"):
        make_conversation(study=panel.study, external_id=name)
    plan_waves(study=panel.study, sizes=[1, 1])
    selection = preview_freeze(study=panel.study).selection
    criteria = {name: Criterion.objects.get(pk=this.pk) for name, this in criteria.items()}
    revisions = {name: this.current_revision_id for name, this in criteria.items() if this.current_revision_id}
    scene = Scene(
        panel,
        criteria=criteria,
        conversations={"one": first, "two": second, "three": third, "talked": talked, "four": fourth, "later": later},
        run=run,
        version=version,
        objection=Vote.objects.get(choice="object", reviewer=panel.chloe),
        standing_objection=Vote.objects.get(choice="object", reviewer=panel.dev),
        revisions=revisions | {"food": criteria["meals"].revisions.get(number=1).id},
        plan=preview_assignment(panel.study, 5).plan.digest,
        seen=mark_of(selection),
        acknowledged=[str(this.criterion.id) for this in selection.stays_out],
        frozen_criterion=version.criteria.get().id,
        example=add_example(study=panel.study, facts=EXAMPLE, by=panel.adam).id,
        pilot=PilotResponse.objects.filter(conversation=first).earliest("number").id,
        response=run.responses.order_by("response_id").values_list("response_id", flat=True)[0],
        moment=timezone.now() + timedelta(minutes=1),
    )
    for name in (*READERS, "ben"):
        client = Client()
        client.force_login(getattr(panel, name))
        scene.sessions[name] = client.cookies[settings.SESSION_COOKIE_NAME].value
        Token.objects.get_or_create(user=getattr(panel, name))
    return scene


def bring_pilots(panel: Panel, conversation: Conversation) -> None:
    rows = [{"conversation_id": conversation.external_id, "text": text, "source": "model-a"} for text in ("A.", "B.")]
    report = import_pilot_responses(
        study=panel.study, source=jsonl(*rows), file_name="pilots.jsonl", by=panel.adam, check=False
    )
    assert report.created == 2


def vote_secretly(scene: Scene, world: str) -> None:
    """Ben's hidden votes and words: another choice, weight, reason, order and time in each world."""
    ben = User.objects.get(email=scene.panel.ben.email)
    if world == "silent":
        return
    hidden = [Ballot(Vote.Choice.AGREE, points=2)] * 4
    criteria = [Criterion.objects.get(pk=this.pk) for this in scene.open_criteria]
    if world == "stern":
        hidden = [
            Ballot(Vote.Choice.ABSTAIN),  # the objection comes second: an order by objections differs
            Ballot(Vote.Choice.OBJECT, category="unsafe", reason="Never this. " * 40),
            Ballot(Vote.Choice.RECUSE),
            Ballot(Vote.Choice.AGREE, points=-9, better_wording="Asks what was eaten, and when."),
        ]
        vote(criterion=criteria[0], reviewer=ben)
        take_back_vote(criterion=criteria[0], reviewer=ben)
        for place in ("draft", f"object-{criteria[0].id}", f"comment-{scene.criteria['talked'].id}"):
            keep_unsent(
                person=ben, conversation=criteria[0].conversation, place=place, fields={"text": ["Never.", "No."]}
            )
        # Said before the round opened, or past every act: while the round is open no comment shows.
        for number in range(3):
            Comment.objects.create(criterion=criteria[3], author=ben, text=f"Not this, {number}.")
    for criterion, ballot in (
        reversed([*zip(criteria, hidden, strict=True)]) if world == "stern" else zip(criteria, hidden, strict=True)
    ):
        assert criterion.current_revision is not None
        cast_vote(criterion=criterion, seen=criterion.current_revision, reviewer=ben, ballot=ballot)
        said = PilotMark.Mark.MET if world == "mild" else PilotMark.Mark.NOT_MET
        for response in PilotResponse.objects.filter(conversation=criterion.conversation_id):
            mark_pilot_response(
                criterion=criterion, seen=criterion.current_revision, response=response, by=ben, mark=said
            )
    if world == "stern":
        hidden_votes = Vote.objects.filter(reviewer=ben, round__revealed_at=None)
        hidden_votes.update(cast_at=timezone.now() - timedelta(days=3))
    assert Round.objects.filter(revealed_at=None).count() == 2, "both rounds are still open"
