"""Graders: one name, one set of facts; addresses that may be called; keys that are only named."""

import pytest

from consilium.errors import RuleViolation
from grading import graders
from grading.graders import check_address, grader_digest, is_outside, register_grader, register_local_endpoint
from grading.models import Grader
from tests.factories import make_study
from tests.journeys.commands import done, run

pytestmark = pytest.mark.django_db


def register(**facts: object) -> Grader:
    study = facts.pop("study", None) or make_study()
    given: dict[str, object] = {"name": "judge", "base_url": "http://127.0.0.1:8080/v1", "model": "m-1", **facts}
    return register_grader(study=study, **given)  # type: ignore[arg-type]


def test_the_same_grader_again_is_unchanged_and_other_facts_are_refused() -> None:
    study = make_study()
    first = register(study=study)
    again = register(study=study, base_url="http://127.0.0.1:8080/v1/ ", name=" judge ")
    assert again == first
    others: list[dict[str, object]] = [
        {"model": "m-2"},
        {"base_url": "http://127.0.0.1:8081/v1"},
        {"concurrency": 9},
        {"parameters": {"temperature": 1}},
    ]
    for other in others:
        with pytest.raises(graders.GraderNameIsTaken) as refusal:
            register(study=study, **other)
        assert "judge" in refusal.value.sentence
    assert Grader.objects.filter(study=study).count() == 1
    assert register(study=study, name="another", model="m-2") != first


def test_the_digest_covers_what_decides_verdicts_and_nothing_else() -> None:
    facts: dict[str, object] = {
        "base_url": "https://api.example.org/v1",
        "model": "m-1",
        "prompt_version": "v1",
        "mode": "per_criterion",
        "parameters": {"seed": 1},
    }
    digest = grader_digest(**facts)  # type: ignore[arg-type]
    assert len(digest) == 64
    assert grader_digest(**facts) == digest  # type: ignore[arg-type]
    others: list[dict[str, object]] = [
        {"model": "m-2"},
        {"mode": "per_response"},
        {"parameters": {"seed": 2}},
        {"base_url": "https://api.example.org/v2"},
        {"base_url": "https://other.example.org/v1"},
        {"base_url": "https://api.example.org:8443/v1"},
        {"base_url": "http://127.0.0.1:8080/v1"},
    ]
    assert len({digest, *(grader_digest(**{**facts, **other}) for other in others)}) == 8  # type: ignore[arg-type]
    here = register()
    assert here.digest == register(base_url="http://localhost:9999/v1", concurrency=64).digest, "only the port moved"
    assert here.digest != register(base_url="https://api.example.org/v1").digest


@pytest.mark.parametrize(
    ("given", "stands"),
    [
        ("http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"),
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://[::1]:8080/v1", "http://[::1]:8080/v1"),
        ("https://API.example.org/openai/v1", "https://api.example.org/openai/v1"),
    ],
)
def test_addresses_that_may_be_called(given: str, stands: str) -> None:
    assert check_address(given, on_page=True) == stands


@pytest.mark.parametrize(
    "given",
    [
        "",
        "127.0.0.1:8080/v1",
        "ftp://127.0.0.1/v1",
        "file:///etc/passwd",
        "http://api.example.org/v1",
        "http://10.0.0.7/v1",
        "https://169.254.169.254/latest",
        "https://[fe80::1]/v1",
        # the same, spelt as a resolver takes it
        "https://[::ffff:169.254.169.254]/v1",
        "https://2852039166/v1",
        "https://0xa9fea9fe/v1",
        "https://0251.0376.0251.0376/v1",
        "https://169.254.43518/v1",
        "https://169。254。169。254/v1",
        "https://①⑥⑨.254.169.254/v1",
        "https://[fd00:ec2::254]/v1",
        "https://metadata.google.internal./v1",
        "https://0.0.0.0/v1",
        "https://user:secret@api.example.org/v1",
        "https://api.example.org/v1?key=secret",
        "https://api.example.org/v1#part",
        "https://api.example.org:99999/v1",
        "https://api example.org/v1",
        "https:///v1",
        "https://api.example.org/v1\n",
    ],
)
def test_addresses_that_are_refused(given: str) -> None:
    if given.endswith("\n"):
        given = given.replace("/v1\n", "/\n1")
    with pytest.raises(graders.AddressNotUsable) as refusal:
        check_address(given, on_page=True)
    assert "secret" not in refusal.value.sentence


def test_a_listed_host_may_be_reached_by_http(settings: object) -> None:
    settings.GRADER_HTTP_HOSTS = ["gpu.example.org"]  # type: ignore[attr-defined]
    assert check_address("http://gpu.example.org:8000/v1", on_page=True) == "http://gpu.example.org:8000/v1"
    with pytest.raises(graders.AddressNotUsable):
        check_address("http://other.example.org:8000/v1", on_page=True)


def test_in_production_a_page_names_the_server_itself_only_where_it_is_listed(settings: object) -> None:
    settings.IS_LOCAL = False  # type: ignore[attr-defined]
    with pytest.raises(graders.AddressNotUsable):
        check_address("http://127.0.0.1:5432/v1", on_page=True)
    assert check_address("http://127.0.0.1:8000/v1", on_page=False)
    settings.GRADER_HTTP_HOSTS = ["127.0.0.1"]  # type: ignore[attr-defined]
    assert check_address("http://127.0.0.1:8000/v1", on_page=True)


def test_a_page_takes_only_listed_key_variables_and_the_command_line_any(settings: object) -> None:
    settings.GRADER_KEY_VARIABLES = ["GRADER_KEY"]  # type: ignore[attr-defined]
    assert register(api_key_variable="GRADER_KEY").api_key_variable == "GRADER_KEY"
    with pytest.raises(graders.KeyVariableNotListed):
        register(api_key_variable="SECRET_KEY")
    assert register(api_key_variable="ANY_NAME", on_page=False).api_key_variable == "ANY_NAME"


@pytest.mark.parametrize("key", ["sk-abc123", "gsk_0a1B2c3D4e5F6g7H8i9J0k1L2m3N", "a b", "ÄTHER", "X" * 61])
def test_a_key_in_place_of_its_variable_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(graders.KeyVariableNotUsable) as refusal:
        register(api_key_variable=key, on_page=False)
    assert key not in refusal.value.sentence
    assert not Grader.objects.exists()


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        ({"name": " "}, graders.GraderNeedsAName),
        ({"name": "n" * 101}, graders.GraderNeedsAName),
        ({"model": ""}, graders.ModelIsMissing),
        ({"concurrency": 0}, graders.ConcurrencyOutOfRange),
        ({"concurrency": 1001}, graders.ConcurrencyOutOfRange),
        ({"mode": "per_response"}, graders.NotYetPerResponse),
        ({"parameters": {"messages": []}}, graders.ParameterNotUsable),
        ({"parameters": {"stream": True}}, graders.ParameterNotUsable),
    ],
)
def test_facts_that_make_no_grader(facts: dict[str, object], kind: type[RuleViolation]) -> None:
    with pytest.raises(kind):
        register(**facts)


def test_the_local_grader_of_the_demo_is_made_once_and_only_its_address_moves() -> None:
    assert register_local_endpoint("http://127.0.0.1:1234/v1") is None, "there is no demo study"
    make_study(slug="demo")
    first = register_local_endpoint("http://127.0.0.1:1234/v1")
    again = register_local_endpoint("http://127.0.0.1:4321/v1/")
    assert first is not None
    assert again is not None
    stored = Grader.objects.get()
    assert stored == first == again
    assert (stored.name, stored.base_url, stored.is_trial_only) == ("local", "http://127.0.0.1:4321/v1", True)
    assert stored.digest == first.digest
    assert not is_outside(stored)


def test_the_command_registers_and_says_what_stands() -> None:
    make_study(slug="s")
    words = ["s", "judge", "--base-url", "http://127.0.0.1:8080/v1", "--model", "m-1", "--parameter", "temperature=0.2"]
    answer = run("register_grader", *words, "--api-key-env", "NOT_SET_HERE", "--concurrency", 3)
    assert (answer.code, answer.data["created"], answer.data["parameters"]) == (0, True, {"temperature": 0.2})
    assert "NOT_SET_HERE isn't set here" in answer.said
    again = done("register_grader", *words, "--api-key-env", "NOT_SET_HERE", "--concurrency", 3)
    assert again["created"] is False
    refused = run("register_grader", *words, "--mode", "per-response")
    assert refused.code == 1
    assert "comes later" in refused.data["error"]
    assert (
        run("register_grader", "s", "x", "--base-url", "http://127.0.0.1/v1", "--model", "m", "--parameter", "x").code
        == 2
    )


def test_the_local_model_gets_its_bounds_also_by_command() -> None:
    """Without them it never ends: it says one sentence again and again until its context is full."""
    make_study(slug="s")
    facts = done("register_grader", "s", "small", "--base-url", "http://127.0.0.1:8391/v1", "--model", "SmolLM2")
    assert facts["parameters"] == dict(graders.LOCAL_PARAMETERS)
