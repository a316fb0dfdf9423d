"""Blindness, by comparison: two databases made from one template that differ only in one reviewer's hidden votes.

Everything that another clinician, the admin and the researcher can fetch is the same in both, byte by byte: pages,
fragments, the API, files; status, headers, length, body. The table of addresses is walked, so that a new page is
covered on the day it is written.
"""

import itertools
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.urls import get_resolver
from django.utils import timezone
from psycopg import sql

from annotation.assigning import assign_reviewer
from annotation.drafting import revise_criterion
from annotation.letters import compose
from annotation.models import Criterion, Membership, Notice, Round, User, Vote
from annotation.opting_out import token_of
from annotation.round_acts import close_drafting, open_round
from rubrics.freezing import ACKNOWLEDGE_ALL, freeze_version
from tests.annotation.browsing import HTMX
from tests.factories import Panel, draft, join, make_conversation, make_panel, make_voting, vote

pytestmark = pytest.mark.django_db  # so that there is a test database to copy; what is compared lies beside it

READERS = ("chloe", "adam")
"""A clinician who wrote, who voted and who has still to vote; and an admin who is researcher too."""
REFUSED = {403, 404, 405}
MASKED = re.compile(rb'((?:name="csrfmiddlewaretoken" value|name="csrf-token" content)=")[^"]+')


@dataclass
class Answers:
    """What one reader gets for every address, plain and for htmx: (name, address, is it for htmx) -> answer."""

    found: dict[tuple[str, str, bool], tuple[int, dict[str, str], bytes]] = field(default_factory=dict)

    @property
    def opened(self) -> set[str]:
        """The names of addresses that the reader could open."""
        return {name for (name, _, _), (status, _, _) in self.found.items() if status == 200}


class Server:
    """The database server of the test database, for making databases beside it."""

    def __init__(self) -> None:
        self.home = str(connection.settings_dict["NAME"])
        self.made: list[str] = []

    def _run(self, statement: sql.Composed) -> None:
        connection.close()
        facts = connection.get_connection_params() | {"dbname": "postgres"}
        facts = {key: value for key, value in facts.items() if key in {"dbname", "host", "port", "user", "password"}}
        with psycopg.connect(**facts, autocommit=True) as maintenance:
            maintenance.execute(statement)

    def copy(self, source: str, name: str) -> str:
        self.drop(name)
        self._run(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(source)))
        self.made.append(name)
        return name

    def drop(self, name: str) -> None:
        self._run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Everything that Django does goes to the database ``name``."""
        connection.close()
        connection.settings_dict["NAME"] = name
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict["NAME"] = self.home

    def clean_up(self) -> None:
        for name in self.made:
            self.drop(name)


@dataclass
class Scene:
    """One study with a conversation in every state. Ben has still to vote in the open rounds; dev and eva too."""

    panel: Panel
    open_criteria: list[Criterion]
    sessions: dict[str, str]
    pool: dict[str, list[str]]


def set_the_scene() -> Scene:
    panel = make_panel(slug="worlds", guidelines="One claim.", support_contact="Duty lead")
    join(study=panel.study, name="adam", role="researcher")
    first = make_conversation(study=panel.study, external_id="one")
    for reviewer in [panel.ana, *panel.reviewers]:
        assign_reviewer(conversation=first, reviewer=reviewer)
    writers = {"Asks about sleep.": panel.ana, "Names a helpline.": panel.ana, "Asks about sleep twice.": panel.chloe}
    criteria = [draft(conversation=first, writer=writer, text=text) for text, writer in writers.items()]
    close_drafting(conversation=first, by=panel.adam)
    vote(criterion=criteria[0], reviewer=panel.chloe, points=4)

    second, (disputed,), _ = make_voting(panel=panel, texts=["Asks about food."], external_id="two")
    for reviewer in panel.reviewers:
        objects = reviewer == panel.chloe
        vote(criterion=disputed, reviewer=reviewer, choice="object" if objects else "agree", category="unsafe")
    disputed.refresh_from_db()
    assert disputed.current_revision is not None
    revise_criterion(
        criterion=disputed, against=disputed.current_revision, by=panel.ana, text="Asks about meals.", points=4
    )
    open_round(conversation=second, by=panel.adam)
    vote(criterion=disputed, reviewer=panel.chloe, points=6)

    third, (settled,), _ = make_voting(panel=panel, texts=["Asks about help."], external_id="three")
    for reviewer in panel.reviewers:
        vote(criterion=settled, reviewer=reviewer)
    fourth = make_conversation(study=panel.study, external_id="four")
    for reviewer in (panel.ben, panel.chloe, panel.dev):
        assign_reviewer(conversation=fourth, reviewer=reviewer)
    drafted = draft(conversation=fourth, writer=panel.chloe, text="Asks who is there.")
    freeze_version(study=panel.study, by=panel.adam, note="", acknowledged=ACKNOWLEDGE_ALL)

    sessions = {}
    for name in (*READERS, "ben"):
        client = Client()
        client.force_login(getattr(panel, name))
        sessions[name] = client.cookies[settings.SESSION_COOKIE_NAME].value
    objection = Vote.objects.get(choice="object")
    pool = {
        "slug": [panel.study.slug],
        "conversation_id": [str(this.id) for this in (first, second, third, fourth)],
        "criterion_id": [str(this.id) for this in (*criteria, disputed, settled, drafted)],
        "vote_id": [str(objection.id)],
        "token": [token_of(panel.ben)],
        "membership_id": [str(Membership.objects.get(user=panel.ben).id)],
        "reviewer_id": [str(panel.ben.id)],
        "act": ["close-drafting", "open-round", "close-round", "finish-drafting", "end-discussion", "recuse", "pause"],
        "format": ["healthbench", "mentalhealthbench", "csv", "xlsx", "parquet"],
        "file_format": ["csv", "xlsx", "parquet"],
        "kind": ["conversations", "criteria", "votes", "responses", "verdicts", "rounds", "discussion"],
        "version": ["1"],
        "number": ["1"],
        "address": ["1"],
    }
    return Scene(panel, [*criteria, disputed], sessions, pool)


def vote_secretly(scene: Scene, world: str) -> None:
    """Ben's hidden votes: another choice, weight, reason and time in each world."""
    reviewer = User.objects.get(email=scene.panel.ben.email)
    for number, criterion in enumerate(scene.open_criteria):
        if world == "mild":
            vote(criterion=criterion, reviewer=reviewer, points=2)
        elif number % 2:
            vote(criterion=criterion, reviewer=reviewer, choice="abstain")
        else:
            vote(criterion=criterion, reviewer=reviewer, choice="object", category="unsafe", reason="Never this. " * 40)
    if world == "stern":
        Vote.objects.filter(reviewer=reviewer, round__revealed_at=None).update(
            cast_at=timezone.now() - timedelta(days=3)
        )
    assert Round.objects.filter(revealed_at=None).count() == 2, "both rounds are still open"


def of_a_study() -> set[str]:
    """The names of all addresses with a study, or something of it, in them."""
    table = get_resolver().reverse_dict
    return {
        name
        for name in table
        if isinstance(name, str) and any(parameters for bits, *_ in table.getlist(name) for _, parameters in bits)
    }


def addresses(pool: dict[str, list[str]]) -> Iterator[tuple[str, str]]:
    """Every named address that takes something of a study, with everything that the scene knows put into it."""
    table = get_resolver().reverse_dict
    for name in of_a_study() | {"my_studies", "api_studies"}:
        for bits, pattern, _, _ in table.getlist(name):
            for template, parameters in bits:
                known = [pool.get(parameter, pool["conversation_id"][:1]) for parameter in parameters]
                for values in itertools.product(*known):
                    address = template % dict(zip(parameters, values, strict=True))
                    if re.search(f"^{pattern}", address):
                        yield name, f"/{address}"


def fetch(scene: Scene, reader: str, *, only: Collection[str] = ()) -> Answers:
    """Everything that there is for a reader, with a fresh browser that is signed in."""
    answers = Answers()
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = scene.sessions[reader]
    for name, address in addresses(scene.pool):
        if only and name not in only:
            continue
        for is_fragment in (False, True):
            # what is refused is refused before anybody looks at htmx, which the API never does
            if is_fragment and (name.startswith("api_") or answers.found[name, address, False][0] in REFUSED):
                break
            response = client.get(address, headers=HTMX if is_fragment else {})
            body = response.getvalue() if response.streaming else response.content
            headers = {key: value for key, value in response.headers.items() if key != "Set-Cookie"}
            answers.found[name, address, is_fragment] = (response.status_code, headers, MASKED.sub(rb"\1", body))
    return answers


def add_mail(answers: Answers, reader: str) -> None:
    """What a digest would say to a reader now."""
    person = User.objects.get(email=f"{reader}@example.org")
    letter = compose(Notice(kind=Notice.Kind.DIGEST, person=person))
    told = (letter.subject + letter.body).encode() if letter else b""
    answers.found["mail", "digest", False] = (200, {}, told)


Worlds = dict[str, dict[str, Answers]]


@pytest.fixture(scope="module")
def worlds(django_db_setup: None, django_db_blocker: Any) -> Iterator[Worlds]:
    """What each reader gets in each world. In ``silent`` Ben has not voted: no clinician may tell."""
    with django_db_blocker.unblock():
        server = Server()
        origin = server.copy(server.home, f"{server.home}_origin")
        try:
            with server.inside(origin):
                scene = set_the_scene()
            fetched: Worlds = {}
            for world in ("mild", "stern", "silent"):
                with server.inside(server.copy(origin, f"{server.home}_{world}")):
                    if world != "silent":
                        vote_secretly(scene, world)
                    readers = {"silent": ["chloe"]}.get(world, READERS)
                    fetched[world] = {reader: fetch(scene, reader) for reader in readers}
                    for reader in readers:
                        add_mail(fetched[world][reader], reader)
                    fetched[world]["ben"] = fetch(scene, "ben", only={"desk", "api_votes"})
            yield fetched
        finally:
            server.clean_up()


def differences(one: Answers, other: Answers) -> list[str]:
    found = []
    for key, (status, headers, body) in one.found.items():
        other_status, other_headers, other_body = other.found[key]
        if (status, headers) != (other_status, other_headers):
            found.append(f"{key}: {status} {headers} against {other_status} {other_headers}")
        if body != other_body:
            lines = [
                f"{line!r} against {other_line!r}"
                for line, other_line in itertools.zip_longest(body.splitlines(), other_body.splitlines())
                if line != other_line
            ]
            found.append(f"{key}: {lines[:3]}")
    return found


@pytest.mark.parametrize("reader", READERS)
def test_hidden_votes_change_nothing_that_anybody_else_can_fetch(worlds: Worlds, reader: str) -> None:
    found = differences(worlds["mild"][reader], worlds["stern"][reader])
    assert not found, "\n".join(found)


def test_no_clinician_can_tell_whether_another_has_voted(worlds: Worlds) -> None:
    found = differences(worlds["mild"]["chloe"], worlds["silent"]["chloe"])
    assert not found, "\n".join(found)


def test_the_worlds_differ_for_the_one_whose_votes_they_are(worlds: Worlds) -> None:
    """Else the comparison would compare nothing."""
    changed = {line.split("'")[1] for line in differences(worlds["mild"]["ben"], worlds["stern"]["ben"])}
    assert changed == {"desk", "api_votes"}


def test_the_walk_opens_the_pages_that_matter(worlds: Worlds) -> None:
    clinician, admin = worlds["mild"]["chloe"].opened, worlds["mild"]["adam"].opened
    both = {"my_studies", "study", "desk", "rounds", "criterion_history", "why", "api_votes", "api_criteria"}
    assert both <= clinician
    assert both | {"study_progress", "admin_conversation", "study_versions", "version", "study_freeze"} <= admin
    assert {"study_conversations", "revise", "recuse"} <= clinician
    assert {"study_responses", "study_runs"} <= admin


def test_every_address_that_takes_something_of_a_study_was_tried(worlds: Worlds) -> None:
    assert of_a_study() <= {name for name, _, _ in worlds["mild"]["chloe"].found}
