"""Blindness, by comparison, of what people do: every act answers the same whatever Ben's hidden votes say.

Forms sent to pages, plainly and as htmx sends them; POST, PUT, PATCH and DELETE on the API; the product's commands.
Each act is undone before the next, so that all of them begin in the worlds of test_two_worlds. What is answered is
compared: status, headers, cookies, body, mails, queries, and what the next page is to say. An act that ends blindness,
such as closing the round, answers the same too; what the round held shows afterwards, and its queries count it.
"""

import io
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command, get_commands
from django.db import connection
from django.urls import reverse

from annotation.letters import compose
from annotation.models import Notice, User
from tests.annotation.browsing import HTMX
from tests.worlds.acts import Acts, Sent
from tests.worlds.api_sent import sent_to_api
from tests.worlds.asking import Answer, Answers, Asker, Key, differences, noting
from tests.worlds.databases import in_each_world
from tests.worlds.pages_sent import sent_to_pages
from tests.worlds.scene import ADMIN_WHO_REVIEWS, NO_ADMINS, READERS, Scene
from tests.worlds.typed import NOT_COMPARED, Typed, typed_after, write_files
from tests.worlds.values import every_act, fill_in, known_values

pytestmark = pytest.mark.django_db

OPERATOR = "operator"
"""Who types commands. Whoever holds the database could read it; what they are answered is compared all the same."""
TURNED_AWAY = {403, 405}


@dataclass
class Done:
    """What one person was answered, which acts were taken, and for what nobody has said what is sent."""

    answers: Answers = field(default_factory=dict)
    ends_blindness: set[Key] = field(default_factory=set)
    taken: set[Key] = field(default_factory=set)
    refused: set[Key] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)

    def note(self, key: Key, answer: Answer, expected: Sent | Typed, *, is_taken: bool) -> None:
        self.answers[key] = answer
        if expected.ends_blindness:
            self.ends_blindness.add(key)
        if not expected.is_refused:
            (self.taken if is_taken else self.refused).add(key)


def act_everywhere(scene: Scene, reader: str) -> Done:
    """Send to every address what tests.worlds says, and nothing at all."""
    done, asker, values = Done(), Asker(scene, reader), known_values(scene)
    sent: Acts = {**sent_to_pages(scene), **sent_to_api(scene)}
    with asker.held_still():
        for name, parameters, methods in every_act():
            is_api = name.startswith("api_")
            first = next(iter(fill_in(name, parameters, values)))
            turned_away = set()
            for method in methods:
                empty = asker.send(reverse(name, kwargs=first), Sent(method=method), as_json=is_api)
                done.answers[name, method, "nothing"] = empty
                if empty.status in TURNED_AWAY:
                    turned_away.add(method)
                elif name not in sent or method not in {act.method for act in sent[name]}:
                    done.unknown.add(what_to_add(name, method))
            for number, act in enumerate(sent.get(name, [])):
                if act.method in turned_away or act == Sent(method=act.method):
                    continue
                key, address = (name, act.method, f"act {number}"), reverse(name, kwargs={**first, **act.to})
                answer = asker.send(address, act, as_json=is_api)
                done.note(key, answer, act, is_taken=answer.status < 400)
                if not is_api and reader != ADMIN_WHO_REVIEWS:
                    answer = asker.send(address, act, headers=HTMX)
                    done.note((*key, "htmx"), answer, replace(act, is_refused=True), is_taken=True)
        for kind in Notice.Kind:
            done.answers["mail", str(kind)] = asker.undone(partial(letter_to, scene, reader, kind))
    return done


def letter_to(scene: Scene, reader: str, kind: Notice.Kind) -> Answer:
    """What a notice of this kind would say to a reader now."""
    study = scene.panel.study if kind == Notice.Kind.INVITATION else None
    queries = list[tuple[str, int]]()
    with connection.execute_wrapper(noting(queries)):
        letter = compose(Notice(kind=kind, person=User.objects.get(pk=getattr(scene.panel, reader).pk), study=study))
    told = f"{letter.subject}\n{letter.body}" if letter else ""
    return Answer(200, {}, {}, told.encode(), (), tuple(queries))


def what_to_add(name: str, method: str) -> str:
    """What somebody who wrote an act has still to say, and where."""
    file = "tests/worlds/api_sent.py" if name.startswith("api_") else "tests/worlds/pages_sent.py"
    by = "" if method == "POST" else f', method="{method}"'
    return (
        f"The address {name!r} takes {method}. Add to {file} what is sent there, so that the act is done: "
        f'"{name}": [Sent({{field: value}}, to={{parameter: value, where not the first known}}{by})]; NOTHING where it '
        "takes an empty form, or does nothing."
    )


def type_commands(scene: Scene, files: dict[str, list[str]], folder: Path) -> Done:
    """Run every command of the product with what tests.worlds says, in words and as JSON."""
    done, asker, typed = Done(), Asker(scene, OPERATOR), typed_after(scene, files, folder)
    with asker.held_still():
        for name in sorted(commands_of_the_product() - NOT_COMPARED.keys()):
            if name not in typed:
                done.unknown.add(
                    f"The command {name!r} is new. Add to typed_after in tests/worlds/typed.py what is typed after it: "
                    f'"{name}": [Typed((word, word))], or to NOT_COMPARED there why it can tell of no study.'
                )
            for number, these in enumerate(typed.get(name, [])):
                for form in ((), ("--json",)):
                    key = (name, f"typed {number}", *form)
                    answer = asker.undone(partial(run_command, asker, name, *these.words, *form))
                    done.note(key, answer, these, is_taken=answer.status == 0)
    return done


def commands_of_the_product() -> set[str]:
    ours = {"consilium", "annotation", "rubrics", "grading"}
    return {name for name, app in get_commands().items() if isinstance(app, str) and app in ours}


def run_command(asker: Asker, name: str, *words: str) -> Answer:
    """A command's exit code as status, what it prints and says, and its mails and queries."""
    out, err, code, queries = io.StringIO(), io.StringIO(), 0, list[tuple[str, int]]()
    asker.chance.begin(" ".join((name, *words)))
    with connection.execute_wrapper(noting(queries)):
        try:
            call_command(name, *words, stdout=out, stderr=err)
        except SystemExit as end:
            code = int(end.code or 0)
    body = f"{out.getvalue()}\n{err.getvalue()}".encode()
    return Answer(code, {}, {}, body, (), tuple(queries))


def act_in(scene: Scene, world: str, folder: Path) -> dict[str, Done]:
    """What each person is answered in a world: reader -> what was done."""
    done = {reader: act_everywhere(scene, reader) for reader in (NO_ADMINS if world == "silent" else READERS)}
    if world != "silent":
        files = write_files(scene, folder)
        done[OPERATOR] = type_commands(scene, files, folder)
    return done


Worlds = dict[str, dict[str, Done]]


@pytest.fixture(scope="module")
def worlds(django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory) -> Worlds:
    """What each person is answered in each world: world -> reader -> what was done."""
    folder = tmp_path_factory.mktemp("brought")
    with django_db_blocker.unblock():
        return in_each_world(partial(act_in, folder=folder))


@pytest.mark.parametrize("reader", [*READERS, OPERATOR])
def test_hidden_votes_change_nothing_that_an_act_of_anybody_else_answers(worlds: Worlds, reader: str) -> None:
    one, other = worlds["mild"][reader], worlds["stern"][reader]
    found = differences(one.answers, other.answers, but_for=one.ends_blindness)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("reader", NO_ADMINS)
def test_by_no_act_can_anybody_but_an_admin_tell_whether_another_has_voted(worlds: Worlds, reader: str) -> None:
    found = differences(worlds["stern"][reader].answers, worlds["silent"][reader].answers)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("reader", [*READERS, OPERATOR])
def test_somebody_has_said_what_is_sent_to_every_address_and_typed_after_every_command(
    worlds: Worlds, reader: str
) -> None:
    """A new page, address of the API or command fails here, and says where to say what goes in."""
    unknown = worlds["mild"][reader].unknown
    assert not unknown, "\n".join(sorted(unknown))


def test_every_act_is_taken_from_somebody(worlds: Worlds) -> None:
    """An act that everybody is refused would compare refusals; such are marked ``is_refused``."""
    everybody = worlds["mild"].values()
    taken = {key for done in everybody for key in done.taken}
    refused = {key: done.answers[key] for done in everybody for key in done.refused if key not in taken}
    assert not refused, "\n".join(f"{key}: {answer.status} {answer.body[-900:]!r}" for key, answer in refused.items())


def test_acts_send_mails_and_they_are_compared(worlds: Worlds) -> None:
    mailed = {key[0] for done in worlds["mild"].values() for key, answer in done.answers.items() if answer.mails}
    assert {"lock_conversation", "api_lock", "member_invitation", "send_digests"} <= mailed
    told = {reader for reader in READERS if worlds["mild"][reader].answers["mail", "digest"].body}
    assert told == {"chloe", "eva"}, "who reviews has something waiting"
