"""What a grader is asked about one response and one criterion.

It sees the instructions, the conversation, the response and the criterion's text, in this order, and nothing
else: no points or their sign, no other criterion, no canary, no author, no respondent, no verdict of anybody.
The criterion comes last, so that all calls about one response begin with the same bytes and a server computes
them once.

Each quoted text stands between borders that carry a code: a keyed hash of the response, which nobody who
wrote the text can know. A text that gives orders, closes a border, makes up turns, holds placeholders or a
ready verdict changes nothing in the structure. The control tokens of chat templates (`<|im_end|>`) are broken
by a space, because several servers read them as real turns wherever they stand; else every text is quoted as
it is.
"""

import copy
import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from grading import prompts

Message = Mapping[str, str]
"""One message of a conversation: {"role": "system" | "user" | "assistant", "content": text}."""

ROLES = frozenset({"system", "user", "assistant"})

ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "explanation": {"type": "string"},
        "quotes": {"type": "array", "items": {"type": "string"}},
        "condition_absent": {"type": "boolean"},
        "criteria_met": {"type": ["boolean", "null"]},
    },
    "required": ["explanation", "quotes", "condition_absent", "criteria_met"],
    "additionalProperties": False,
}
"""The answer asked for, as a strict JSON schema: the explanation first, then the verdict."""

_BOUNDARY_DIGITS = 16
_CONTROL_TOKEN = re.compile(
    r"""([<\[])(?=
        [|｜][^<>\[\]|｜\n]{1,60}[|｜][>\]]  # <|im_end|> <｜User｜> [|endofturn|]
      | (?<=<)(?:/?s|bos|eos|pad|unk|mask|unused\d{1,4}|(?:start|end)_of_(?:turn|image)|seed:[a-z_]{1,20})>
      | (?<=<)</?SYS>>
      | (?<=\[)/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|gMASK)\]
    )""",
    re.VERBOSE | re.IGNORECASE,
)


def response_format(*, longest_text: int | None = None) -> dict[str, Any]:
    """The `response_format` of a chat completion for endpoints that honour a JSON schema.

    `longest_text` (characters) bounds the explanation and each quote, and the quotes to two. Small models need it:
    they don't come to an end by themselves. Some endpoints refuse a schema with such bounds, so there are none
    unless asked for.
    """
    schema = copy.deepcopy(ANSWER_SCHEMA)
    if longest_text is not None:
        schema["properties"]["explanation"]["maxLength"] = longest_text
        schema["properties"]["quotes"]["maxItems"] = 2
        schema["properties"]["quotes"]["items"]["maxLength"] = longest_text
    return {
        "type": "json_schema",
        "json_schema": {"name": "criterion_verdict", "strict": True, "schema": schema},
    }


def fence_boundary(*, key: bytes, response_id: str, texts: Iterable[str] = ()) -> str:
    """The code on the borders around everything quoted for one response: 16 hex digits of an HMAC-SHA256.

    `key` is secret and outlives a run (ValueError if empty: then anybody could compute the code). `texts` are
    the texts that will be quoted: the conversation's, the response and all criteria that it is judged by. In
    the one case in 2**64 that one of them holds the code, or where a code leaked, the next code is taken. All
    calls about a response must give the same texts, so that they share the code.
    """
    if not key:
        raise ValueError("The key of the fence is empty.")
    quoted = [text.casefold() for text in texts]
    number = 0
    while True:
        message = f"fence {number}\0{response_id}".encode("utf-8", "surrogatepass")
        code = hmac.new(key, message, hashlib.sha256).hexdigest()[:_BOUNDARY_DIGITS]
        if not any(code in text for text in quoted):
            return code
        number += 1


def build_request_messages(
    *,
    prompt_version: str,
    conversation: Sequence[Message],
    response_text: str,
    criterion_text: str,
    boundary: str,
) -> list[dict[str, str]]:
    """The messages of one call: the instructions (system), then everything quoted, the criterion last (user).

    `boundary` comes from `fence_boundary`. Everything before the criterion's text is the same for all
    criteria of a response. UnknownPromptVersion if there is no such version; ValueError for a role that no
    conversation has, for a boundary that is not 16 hex digits, and for one that stands in a quoted text.
    """
    version = prompts.load(prompt_version)
    if not re.fullmatch(rf"[0-9a-f]{{{_BOUNDARY_DIGITS}}}", boundary):
        raise ValueError("The boundary is not the 16 hex digits that fence_boundary gives.")
    texts = [*(message["content"] for message in conversation), response_text, criterion_text]
    if any(boundary in text.casefold() for text in texts):
        raise ValueError("The boundary stands in a text that it should fence: give fence_boundary all texts.")
    if unknown := {message["role"] for message in conversation} - ROLES:
        raise ValueError(f"A conversation has no role {', '.join(sorted(unknown))}.")
    turns = "".join(
        version.turn.filled(
            {
                "boundary": boundary,
                "number": str(number),
                "role": message["role"],
                "text": without_control_tokens(message["content"]),
            }
        )
        for number, message in enumerate(conversation, start=1)
    )
    user = version.user.filled(
        {
            "boundary": boundary,
            "conversation": turns,
            "response": without_control_tokens(response_text),
            "criterion": without_control_tokens(criterion_text),
        }
    )
    return [{"role": "system", "content": version.system}, {"role": "user", "content": user}]


def without_control_tokens(text: str) -> str:
    """The text with a space after the first character of every chat template's control token."""
    return _CONTROL_TOKEN.sub(r"\1 ", text)
