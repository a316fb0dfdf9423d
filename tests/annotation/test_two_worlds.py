"""Blindness, by comparison: everything that anybody else can fetch is the same whatever Ben's hidden votes say.

Two databases made from one template differ only in one reviewer's hidden votes, reasons, better wordings, comments,
unsent texts and their times (tests.worlds). Each address of the site is opened by a clinician, an admin, a researcher
and an admin who reviews: as a page, as a fragment, with each parameter that it reads. Status, headers, cookies, body,
mails and the queries that it took are the same. A new address is covered on the day it is written, or fails here.
What people do there, and the commands, are compared in test_two_worlds_acts.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.urls import reverse

from tests.annotation.browsing import HTMX
from tests.worlds.asking import Answers, Asker, Noticing, differences
from tests.worlds.databases import in_each_world
from tests.worlds.scene import ADMIN_WHO_REVIEWS, CLINICIAN, NO_ADMINS, READERS, Scene
from tests.worlds.values import every_address, fill_in, known_parameters, known_values

pytestmark = pytest.mark.django_db  # so that there is a test database to copy; what is compared lies beside it

REFUSED = {403, 405}
OF_NO_STUDY = {"api_schema": CLINICIAN, "api_docs": CLINICIAN}
"""Made of the code alone, and slow: opened by one reader."""
LONGEST_LIST = 2


@dataclass
class Walk:
    """What one reader was answered: (name, address, how) -> answer; and what nobody has said how to fill in."""

    answers: Answers = field(default_factory=dict)
    unknown: set[tuple[str, str]] = field(default_factory=set)
    looked: set[str] = field(default_factory=set)

    @property
    def opened(self) -> set[str]:
        return {key[0] for key, answer in self.answers.items() if answer.status == 200}


def walk(scene: Scene, reader: str, *, only: Collection[str] = ()) -> Walk:
    """Open every address with everything that the scene knows put into it."""
    done, asker = Walk(), Asker(scene, reader)
    values, parameters = known_values(scene), known_parameters(scene)
    with asker.held_still():
        for name, names in every_address():
            if (only and name not in only) or OF_NO_STUDY.get(name, reader) != reader:
                continue
            try:
                choices = list(fill_in(name, names, values))
            except KeyError as missing:
                done.unknown.add((name, str(missing.args[0])))
                continue
            for chosen in choices:
                address = reverse(name, kwargs=chosen)
                answer = done.answers[name, address] = asker.ask("GET", address)
                if answer.status in REFUSED:
                    break  # for whatever it names
                if answer.status < 400 and name not in done.looked and name not in OF_NO_STUDY:
                    done.looked.add(name)
                    look_closer(done, asker, name, address, parameters)
    return done


def look_closer(done: Walk, asker: Asker, name: str, address: str, parameters: dict[str, list[Any]]) -> None:
    """The fragment of a page, and what each parameter that it reads makes of it."""
    asked = set(Noticing.asked)
    if not name.startswith("api_"):
        as_fragment = f"{address}?any=1"  # some look at their query only where there is one
        done.answers[name, as_fragment] = asker.ask("GET", as_fragment, headers=HTMX)
    if asker.reader == ADMIN_WHO_REVIEWS:
        return  # the parameters mean to her what they mean to the others
    for parameter in sorted(asked | Noticing.asked):
        known = parameters.get(f"{name} {parameter}", parameters.get(parameter))
        if known is None:
            done.unknown.add((name, f"?{parameter}="))
        for value in known or []:
            follow(done, asker, name, f"{address}?{parameter}={value}")


def follow(done: Walk, asker: Asker, name: str, query: str) -> None:
    """An address with a query, and the pages of a list that follow it."""
    for _ in range(LONGEST_LIST):
        answer = done.answers[name, query] = asker.ask("GET", query)
        following = json.loads(answer.body) if answer.headers.get("Content-Type") == "application/json" else None
        if not isinstance(following, dict) or not following.get("next"):
            break
        query = str(following["next"]).removeprefix("http://testserver")


def walk_all(scene: Scene, world: str) -> dict[str, Walk]:
    """What each reader gets in a world: reader -> walk."""
    walks = {reader: walk(scene, reader) for reader in (NO_ADMINS if world == "silent" else READERS)}
    return walks | {"ben": walk(scene, "ben", only={"desk", "api_votes", "try_criterion", "api_pilot_marks"})}


Worlds = dict[str, dict[str, Walk]]


@pytest.fixture(scope="module")
def worlds(django_db_setup: None, django_db_blocker: Any) -> Worlds:
    """What each reader gets in each world: world -> reader -> walk."""
    with django_db_blocker.unblock():
        return in_each_world(walk_all)


@pytest.mark.parametrize("reader", READERS)
def test_hidden_votes_change_nothing_that_anybody_else_can_fetch(worlds: Worlds, reader: str) -> None:
    found = differences(worlds["mild"][reader].answers, worlds["stern"][reader].answers)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("reader", NO_ADMINS)
def test_only_an_admin_can_tell_whether_another_has_voted(worlds: Worlds, reader: str) -> None:
    found = differences(worlds["stern"][reader].answers, worlds["silent"][reader].answers)
    assert not found, "\n".join(found)


def test_the_worlds_differ_for_the_one_whose_votes_they_are(worlds: Worlds) -> None:
    """Else the comparison would compare nothing."""
    changed = {
        line.split("'")[1] for line in differences(worlds["mild"]["ben"].answers, worlds["stern"]["ben"].answers)
    }
    assert changed == {"desk", "api_votes", "try_criterion", "api_pilot_marks"}


@pytest.mark.parametrize("reader", READERS)
def test_every_address_and_every_parameter_has_something_to_try(worlds: Worlds, reader: str) -> None:
    """A new one fails here until tests/worlds/values.py says what goes in there."""
    unknown = worlds["mild"][reader].unknown
    assert not unknown, "\n".join(sorted(map(what_to_add, unknown)))


def what_to_add(unknown: tuple[str, str]) -> str:
    """What somebody who wrote a page has still to say, and where."""
    name, what = unknown
    if what.startswith("?"):
        parameter = what.strip("?=")
        return (
            f"The address {name!r} reads {what} of its query. Add to known_parameters in tests/worlds/values.py what "
            f'is tried: "{parameter}": [values], or "{name} {parameter}": [values] where it means something of its own '
            "there; [] where it says nothing of a study."
        )
    return (
        f"The address {name!r} takes the parameter {what}. Add to known_values in tests/worlds/values.py what goes in: "
        f'"{what}": [values of the scene], or "{name} {what}": [values] where it means something of its own there. '
        "What the scene lacks is made in set_the_scene in tests/worlds/scene.py."
    )


def test_every_address_was_tried(worlds: Worlds) -> None:
    tried = {key[0] for walked in worlds["mild"].values() for key in walked.answers}
    assert {name for name, _ in every_address()} - tried == set()


def test_the_walk_opens_the_pages_that_matter(worlds: Worlds) -> None:
    clinician, admin, researcher, both = (worlds["mild"][reader].opened for reader in READERS)
    everybody = {"my_studies", "study", "desk", "rounds", "criterion_history", "why", "api_votes", "api_criteria"}
    assert everybody <= clinician & admin & researcher & both
    mine = {"study_conversations", "revise", "recuse", "own_votes", "try_criterion", "api_pilot_marks"}
    assert mine <= clinician & both
    admins = {"study_progress", "admin_conversation", "study_freeze", "api_progress", "study_policy_change"}
    assert admins <= admin & both
    assert not admins & (clinician | researcher)
    assert {"study_responses", "study_runs", "run_pairs", "version_file"} <= researcher
