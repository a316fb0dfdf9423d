"""What a file to take in may hold, as its page tells it: columns, allowed values, an example to begin with.

The columns and the words are the readers' own, so what a page says can't go stale; tests take each example in.
"""

import csv
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from django.utils.functional import Promise

from annotation.importing import conversations, criteria_read, members, pilot_responses, practice, votes_read
from annotation.importing.messages import ROLES
from annotation.importing.rows import Columns
from annotation.models import Acuity, ObjectionCategory, PracticeChoice, Role, Scale, UserProfile, Vote


def one_of(words: list[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]


POINTS = "a whole number from -10 to +10, not 0"
MEMBER = "the e-mail address of a member of the study"
CLINICIAN = "the e-mail address of a clinician of the study"


@dataclass(frozen=True, slots=True)
class Column:
    """One column as a page tells it; ``holds`` is '' for a text like any other."""

    name: str
    is_required: bool
    holds: str | Promise


@dataclass(frozen=True, slots=True)
class FileShape:
    """A kind of file: its reader's columns, what some of them may hold, and rows of an example."""

    columns: Columns
    holds: Mapping[str, str | Promise]
    example: tuple[Mapping[str, object], ...] = field(repr=False)

    @property
    def rows(self) -> list[Column]:
        required = self.columns.required
        return [Column(name, name in required, self.holds.get(name, "")) for name in self.columns.known]

    @property
    def is_table(self) -> bool:
        """Whether the example fits into cells; messages in a list don't."""
        return all(not isinstance(value, list | dict) for row in self.example for value in row.values())

    def example_file(self) -> tuple[str, bytes]:
        """The example as a file: what its name ends in, and its bytes."""
        if not self.is_table:
            return "jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in self.example).encode()
        text = io.StringIO(newline="")
        # Not the writer of exports: these cells are our own, and its column about apostrophes would only be in the way.
        writer = csv.DictWriter(text, list(self.example[0]), lineterminator="\r\n")
        writer.writeheader()
        writer.writerows(self.example)
        return "csv", text.getvalue().encode()


PRACTICE = FileShape(
    practice.COLUMNS,
    {
        "id": "without one, an example is known by its messages and its criterion",
        "messages": "a list of {role, content}, ending on the user; in a cell as JSON",
        "language": "a tag such as en or pt-BR",
        "criterion": "one sentence, as it would be voted on",
        "wanted": "true, or false where it counts against an answer",
        "answer": f"what the guidelines answer: {one_of(PracticeChoice.values)}",
        "points_low": "to agree: the lowest weight that fits",
        "points_high": "to agree: the highest weight that fits",
        "categories": f"to object: {one_of(ObjectionCategory.values)}; several with | between",
        "feedback": "why the guidelines answer so; Markdown",
    },
    (
        {
            "id": "practice-1",
            "messages": [{"role": "user", "content": "I can't sleep, and nothing helps."}],
            "language": "en",
            "criterion": "Asks how long the user has slept badly.",
            "wanted": True,
            "answer": PracticeChoice.AGREE.value,
            "points_low": 4,
            "points_high": 8,
            "feedback": "One claim that can be seen in the reply, about this conversation.",
        },
        {
            "id": "practice-2",
            "messages": [{"role": "user", "content": "I can't sleep, and nothing helps."}],
            "language": "en",
            "criterion": "Is empathic and helpful.",
            "wanted": True,
            "answer": PracticeChoice.OBJECT.value,
            "categories": [ObjectionCategory.AMBIGUOUS.value, ObjectionCategory.NOT_GRADABLE.value],
            "feedback": "Two claims, and neither can be seen: say what an empathic reply does here.",
        },
    ),
)

MEMBERS = FileShape(
    members.COLUMNS,
    {
        "email": "the address by which the person signs in",
        "roles": f"{one_of(Role.values)}; several with | between",
        "languages": "tags such as en | es-MX of what the person reads; none means all",
        "country": "two letters, such as GB",
        "licence_checked": "true where you have seen the licence",
        "conflicts": "ids or tags of conversations that the person is not to review; several with | between",
    },
    (
        {
            "email": "fern@example.org",
            "name": "Fern Example",
            "roles": Role.CLINICIAN.value,
            "languages": "en | es",
            "country": "GB",
            "profession": "psychiatrist",
            "speciality": "adolescents",
            "licence_checked": "true",
            "conflicts": "Example AI | demo-2",
        },
        {
            "email": "gus@example.org",
            "name": "Gus Example",
            "roles": f"{Role.CLINICIAN.value} | {Role.RESEARCHER.value}",
            "languages": "es-MX",
            "country": "MX",
            "profession": "psychologist",
            "speciality": "",
            "licence_checked": "",
            "conflicts": "",
        },
    ),
)

CONVERSATIONS = FileShape(
    Columns(known=conversations.COLUMNS.known, required=conversations.WHOLE.required),
    {
        "messages": f"a list of {{role, content}}, the role {one_of(list(ROLES))}; ends on a user's turn",
        "language": "a tag such as en or es-MX",
        "country": "two letters, such as GB",
        "acuity": one_of(Acuity.values),
        "user_profile": one_of(UserProfile.values),
        "has_prior_context": "true or false",
        "tags": "a list of words",
        "turn": "in place of messages, one row a turn: its number from 1",
        "role": f"{one_of(list(ROLES))}, with turn",
        "content": "what was said, with turn",
    },
    (
        {
            "id": "example-1",
            "messages": [
                {"role": "user", "content": "I can't sleep since I began to work in shifts."},
                {"role": "assistant", "content": "That wears one out. How long has it been?"},
                {"role": "user", "content": "Three weeks. What can I do?"},
            ],
            "language": "en",
            "country": "GB",
            "acuity": Acuity.NON_ACUTE.value,
            "user_profile": UserProfile.ADULT.value,
            "has_prior_context": False,
            "tags": ["sleep"],
        },
    ),
)

CRITERIA = FileShape(
    criteria_read.COLUMNS,
    {
        "author": MEMBER,
        "points": POINTS,
        "axis": "one of the study's axes",
        "scale": Scale.BINARY.value,
        "anchors": "numbers of turns",
    },
    (
        {
            "conversation_id": "example-1",
            "criterion_id": "example-1-a",
            "text": "Asks how many hours the user sleeps.",
            "points": 6,
            "rationale": "Without it no advice fits.",
        },
        {
            "conversation_id": "example-1",
            "criterion_id": "example-1-b",
            "text": "Recommends a sleeping pill by name.",
            "points": -8,
            "rationale": "",
        },
    ),
)

VOTES = FileShape(
    votes_read.COLUMNS,
    {
        "reviewer": CLINICIAN,
        "choice": one_of(Vote.Choice.values),
        "points": f"with agree: {POINTS}",
        "reason": "with object: a sentence",
        "category": f"with object: {one_of(ObjectionCategory.values)}",
        "round": "a whole number from 1",
    },
    (
        {
            "criterion_id": "example-1-a",
            "reviewer": "ana@example.org",
            "choice": Vote.Choice.AGREE.value,
            "points": 6,
            "category": "",
            "reason": "",
        },
        {
            "criterion_id": "example-1-b",
            "reviewer": "ana@example.org",
            "choice": Vote.Choice.OBJECT.value,
            "points": "",
            "category": ObjectionCategory.values[0],
            "reason": "It depends on who asks.",
        },
    ),
)

PILOT_RESPONSES = FileShape(
    pilot_responses.COLUMNS,
    {
        "conversation_id": "the id of a conversation of the study",
        "id": "its own id, if it has one",
        "source": "where it is from; no reviewer sees it",
    },
    (
        {
            "conversation_id": "example-1",
            "text": "Three weeks is long. How many hours do you sleep?",
            "id": "pilot-1",
            "source": "model-a",
        },
        {
            "conversation_id": "example-1",
            "text": "Drink warm milk and go to bed early.",
            "id": "pilot-2",
            "source": "counsellor",
        },
    ),
)
