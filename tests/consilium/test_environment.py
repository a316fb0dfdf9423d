"""What the environment may say: nonsense stops the start with a sentence, a local start needs nothing."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.core.management import get_commands

from consilium.environment import (
    is_this_machine,
    read_database_url,
    read_email_url,
    read_flag,
    read_folder,
    read_hosts,
    read_list,
    read_origins,
    read_secret_key,
    read_sender,
    read_site_url,
    read_variable_names,
    read_whole_number,
)

ROOT = Path(__file__).resolve().parents[2]
OURS = {"consilium", "annotation", "rubrics", "grading"}


def python(*words: str, var: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the project with these variables and no others of the product's."""
    bare = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**bare, "CONSILIUM_VAR": str(var), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("value", ["1", "true", "Yes", " on "])
def test_a_flag_that_is_on(value: str) -> None:
    assert read_flag("X", {"X": value}) is True


@pytest.mark.parametrize("environ", [{}, {"X": ""}, {"X": "0"}, {"X": "False"}, {"X": "no"}, {"X": "off"}])
def test_a_flag_that_is_off(environ: dict[str, str]) -> None:
    assert read_flag("X", environ) is False


def test_a_flag_that_is_neither_stops_the_start() -> None:
    with pytest.raises(SystemExit, match="X is 'maybe'; it takes true or false"):
        read_flag("X", {"X": "maybe"})


@pytest.mark.parametrize("value", ["-1", "2.5", "ten", "٣", "1e3"])
def test_a_number_that_is_none_stops_the_start(value: str) -> None:
    with pytest.raises(SystemExit, match="whole number"):
        read_whole_number("X", 0, {"X": value})


def test_a_list_keeps_only_what_is_written() -> None:
    assert read_list("X", {"X": " a, ,b ,"}) == ["a", "b"]


def test_a_number_out_of_its_range_stops_the_start() -> None:
    with pytest.raises(SystemExit, match="X is '0'; it takes a whole number from 1 to 1,000,000"):
        read_whole_number("X", 300, {"X": "0"}, least=1)
    with pytest.raises(SystemExit, match="from 0 to 1,000,000"):
        read_whole_number("X", 300, {"X": "9" * 5000})


def test_hosts_are_names_or_addresses_and_patterns_only_where_they_are_taken() -> None:
    hosts = "study.example.org, 127.0.0.1,[::1],::1, a_b, localhost."
    assert read_hosts("X", {"X": hosts}) == ["study.example.org", "127.0.0.1", "[::1]", "::1", "a_b", "localhost."]
    assert read_hosts("X", {"X": "*,.example.org"}, patterns=True) == ["*", ".example.org"]


@pytest.mark.parametrize("host", ["https://my.org", "my.org:80", "my.org/", "my org", "*.my.org", "a..b", "u@my.org"])
def test_a_host_that_is_none_stops_the_start(host: str) -> None:
    with pytest.raises(SystemExit, match="it takes host names such as"):
        read_hosts("X", {"X": host}, patterns=True)
    for pattern in ("*", ".my.org"):
        with pytest.raises(SystemExit, match="it takes host names"):
            read_hosts("X", {"X": pattern})


def test_an_origin_has_a_scheme_and_a_host() -> None:
    good = ["https://study.example.org", "http://localhost:8000", "https://*.example.org", "http://[::1]:80"]
    assert read_origins("X", {"X": ",".join(good)}) == good
    for bad in ("foo", "https://", "https://a/b", "ftp://a", "https://a:port", "*"):
        with pytest.raises(SystemExit, match="it takes origins such as"):
            read_origins("X", {"X": bad})


def test_names_of_variables_are_names() -> None:
    assert read_variable_names("X", {"X": "JUDGE_KEY, k2"}) == ["JUDGE_KEY", "k2"]
    for bad in ("MY KEY", "2K", "A=B", "$KEY"):
        with pytest.raises(SystemExit, match="it takes names of environment variables"):
            read_variable_names("X", {"X": bad})


def test_a_sender_has_an_address() -> None:
    for good in ("a@example.org", "The Study <a@localhost>"):
        assert read_sender("X", "", {"X": good}) == good
    assert read_sender("X", "b@example.org", {"X": " "}) == "b@example.org"
    for bad in ("The Study", "a@", "a@b@c", "The Study <a b@example.org>"):
        with pytest.raises(SystemExit, match="it takes an address such as"):
            read_sender("X", "", {"X": bad})


def test_a_folder_need_not_be_there_and_is_no_file(tmp_path: Path) -> None:
    assert read_folder("X", tmp_path, {}) == tmp_path
    assert read_folder("X", tmp_path, {"X": str(tmp_path / "a" / "b")}) == tmp_path / "a" / "b"
    file = tmp_path / "file"
    file.touch()
    for bad in (file, file / "var"):
        with pytest.raises(SystemExit, match=r"it takes a folder, and .*file is a file"):
            read_folder("X", tmp_path, {"X": str(bad)})


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "a.localhost", "127.0.0.1", "127.8.8.8", "[::1]", "::1"])
def test_what_is_this_machine(host: str) -> None:
    assert is_this_machine(host)


@pytest.mark.parametrize("host", ["example.org", "localhost.example.org", "*", "0.0.0.0", "192.168.1.4", "", "."])
def test_what_is_another_machine(host: str) -> None:
    assert not is_this_machine(host)


def test_a_database_address_with_a_socket_directory() -> None:
    found = read_database_url("postgresql://postgres:@/study?host=/var/run/some%20where&port=5433")
    assert found["NAME"] == "study"
    assert found["HOST"] == "/var/run/some where"
    assert found["PORT"] == "5433"
    assert found["USER"] == "postgres"


def test_a_database_address_with_a_host_and_options() -> None:
    found = read_database_url("postgres://ana:p%40ss@db.example.org:6543/study?sslmode=require")
    assert (found["USER"], found["PASSWORD"]) == ("ana", "p@ss")
    assert (found["HOST"], found["PORT"]) == ("db.example.org", "6543")
    assert found["OPTIONS"] == {"sslmode": "require"}


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("mysql://root@localhost/study", "it takes a postgresql:// address"),
        ("sqlite:///study.db", "it takes a postgresql:// address"),
        ("study", "it takes a postgresql:// address"),
        ("postgresql://localhost", "names no database"),
        ("postgresql://localhost:5432/study?nonsense=1", "can't be read"),
        ("postgresql://[::1/study", "can't be read"),
        ("postgresql://localhost:abc/study", "has the port 'abc'"),
        ("postgresql:///study?host=/tmp&port=70000", "has the port '70000'"),
    ],
)
def test_a_database_address_that_is_none_stops_the_start(url: str, sentence: str) -> None:
    with pytest.raises(SystemExit, match=sentence):
        read_database_url(url)


def test_a_refused_database_address_does_not_show_its_password() -> None:
    with pytest.raises(SystemExit) as stopped:
        read_database_url("postgresql://ana:hunter2@localhost/")
    assert "hunter2" not in str(stopped.value)


def test_mail_is_printed_where_no_server_is_named() -> None:
    assert str(read_email_url("")["EMAIL_BACKEND"]).endswith("console.EmailBackend")


def test_a_mail_server_speaks_tls() -> None:
    found = read_email_url("smtp://ana%40x:p%2Fw@mail.example.org")
    assert (found["EMAIL_HOST"], found["EMAIL_PORT"], found["EMAIL_USE_TLS"]) == ("mail.example.org", 587, True)
    assert (found["EMAIL_HOST_USER"], found["EMAIL_HOST_PASSWORD"]) == ("ana@x", "p/w")
    safe = read_email_url("smtps://mail.example.org")
    assert (safe["EMAIL_PORT"], safe["EMAIL_USE_SSL"], safe["EMAIL_USE_TLS"]) == (465, True, False)


@pytest.mark.parametrize("url", ["mail.example.org", "http://mail.example.org", "smtp://", "smtp://host:port"])
def test_a_mail_address_that_is_none_stops_the_start(url: str) -> None:
    with pytest.raises(SystemExit, match="EMAIL_URL"):
        read_email_url(url)


def test_links_in_mail_lead_to_the_site_s_own_address() -> None:
    def found(*hosts: str, **environ: str) -> str:
        return read_site_url("SITE_URL", hosts=list(hosts), is_local=not hosts, environ=environ)

    assert found() == "http://127.0.0.1:8000"
    assert found(PORT="8003") == "http://127.0.0.1:8003"
    assert found("localhost", ".example.org", "study.example.org") == "https://example.org"
    assert found("*") == "https://localhost"
    assert found("*", SITE_URL="https://study.example.org:8443/") == "https://study.example.org:8443"
    for nonsense in ("study.example.org", "https://study.example.org/x", "ftp://x.org", "https://"):
        with pytest.raises(SystemExit, match="SITE_URL"):
            found("*", SITE_URL=nonsense)


def test_a_local_start_makes_one_key_however_many_start_at_once(tmp_path: Path) -> None:
    keys: list[str] = []
    barrier = threading.Barrier(8)

    def start() -> None:
        barrier.wait()
        keys.append(read_secret_key(is_local=True, var=tmp_path / "var", environ={}))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 8
    assert len(set(keys)) == 1
    assert len(keys[0]) >= 50
    assert (tmp_path / "var" / "secret_key").stat().st_mode & 0o777 == 0o600
    assert [file.name for file in (tmp_path / "var").iterdir()] == ["secret_key"]


def test_production_demands_a_key(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="SECRET_KEY is not set"):
        read_secret_key(is_local=False, var=tmp_path, environ={})
    with pytest.raises(SystemExit, match="shorter than 32"):
        read_secret_key(is_local=False, var=tmp_path, environ={"SECRET_KEY": "short"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"ALLOWED_HOSTS": "study.example.org"}, "SECRET_KEY is not set"),
        ({"ALLOWED_HOSTS": "localhost,study.example.org"}, "SECRET_KEY is not set"),
        ({"ALLOWED_HOSTS": "*", "SECRET_KEY": "k" * 40, "CONSILIUM_DEMO": "1"}, "anybody could sign in"),
        ({"ALLOWED_HOSTS": "study.example.org", "SECRET_KEY": "k" * 40, "DEBUG": "1"}, "to strangers"),
        ({"DEBUG": "perhaps"}, "DEBUG is 'perhaps'"),
        ({"CONSILIUM_DEMO": "please"}, "CONSILIUM_DEMO is 'please'"),
        ({"DATABASE_POOL": "many"}, "DATABASE_POOL is 'many'"),
        ({"DATABASE_URL": "sqlite:///x"}, "postgresql://"),
        ({"EMAIL_URL": "ftp://x"}, "EMAIL_URL"),
        ({"ALLOWED_HOSTS": "https://my.org"}, "ALLOWED_HOSTS names 'https://my.org'"),
        ({"GRADER_CALL_SECONDS": "0"}, "GRADER_CALL_SECONDS is '0'"),
        ({"GRADER_HTTP_HOSTS": "http://x.y/"}, "GRADER_HTTP_HOSTS names 'http://x.y/'"),
        ({"STUDY_MAKERS": "everybody"}, "STUDY_MAKERS names 'everybody'"),
        ({"GRADER_KEY_VARIABLES": "MY KEY"}, "GRADER_KEY_VARIABLES names 'MY KEY'"),
        ({"DEFAULT_FROM_EMAIL": "The study"}, "DEFAULT_FROM_EMAIL is 'The study'"),
        ({"CONSILIUM_VAR": "/etc/passwd"}, "CONSILIUM_VAR is '/etc/passwd'"),
        ({"SITE_URL": "study.example.org"}, "SITE_URL is 'study.example.org'"),
        ({"BEHIND_PROXY": "maybe"}, "BEHIND_PROXY is 'maybe'"),
        ({"CSRF_TRUSTED_ORIGINS": "foo"}, "CSRF_TRUSTED_ORIGINS names 'foo'"),
        ({"DATABASE_URL": "postgresql://localhost:abc/x"}, "DATABASE_URL has the port 'abc'"),
    ],
)
def test_nonsense_stops_a_start_with_one_sentence(tmp_path: Path, environ: dict[str, str], sentence: str) -> None:
    result = python("manage.py", "status", "study", "--json", var=tmp_path, **environ)
    assert result.returncode == 1
    assert sentence in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    assert json.loads(result.stdout) == {"error": result.stderr.strip()}


def test_without_a_database_a_command_says_what_to_set(tmp_path: Path) -> None:
    sentence = (
        "DATABASE_URL is not set. "
        "Give a PostgreSQL address (postgresql://user:password@host:5432/name), or use `make run`."
    )
    result = python("manage.py", "migrate", var=tmp_path)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.strip() == f"CommandError: {sentence}"
    result = python("manage.py", "status", "study", "--json", var=tmp_path)
    assert (result.returncode, result.stderr.strip()) == (1, sentence)
    assert json.loads(result.stdout) == {"error": sentence}


@pytest.mark.parametrize("words", [("status",), ("status", "x", "--nonsense"), ("nonsense",)])
def test_wrong_use_is_exit_2_and_an_object_where_json_is_asked_for(tmp_path: Path, words: tuple[str, ...]) -> None:
    result = python("manage.py", *words, "--json", var=tmp_path)
    assert result.returncode == 2
    assert json.loads(result.stdout).keys() == {"error"}
    result = python("manage.py", *words, var=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr


def test_commands_find_the_server_that_make_run_started(tmp_path: Path) -> None:
    (tmp_path / "database_url").write_text("postgresql://postgres:@/of_the_run?host=/nowhere\n")
    show = "from django.conf import settings; print(settings.DATABASES['default']['NAME'])"
    words = ("-c", f"import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'consilium.settings'; {show}")
    assert python(*words, var=tmp_path).stdout.strip() == "of_the_run"
    mine = "postgresql://postgres:@/mine?host=/nowhere"
    assert python(*words, var=tmp_path, DATABASE_URL=mine).stdout.strip() == "mine"
    production = {"ALLOWED_HOSTS": "study.example.org", "SECRET_KEY": "k" * 40}
    assert python(*words, var=tmp_path, **production).stdout.strip() == ""


def test_the_tests_run_on_postgresql() -> None:
    assert settings.DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql"
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        assert connection.info.server_version >= 140000


HELP_FOR_ALL = """
import io, sys
import django
from contextlib import redirect_stdout
from django.core.management import execute_from_command_line, get_commands
django.setup()
for name, app in sorted(get_commands().items()):
    if app in {ours} or name == "procrastinate":
        said = io.StringIO()
        try:
            with redirect_stdout(said):
                execute_from_command_line(["manage.py", name, "--help"])
        except SystemExit as end:
            assert end.code in (0, None), (name, end.code)
        assert "usage:" in said.getvalue(), name
        print(name)
heavy = {{"numpy", "scipy", "openai", "altair", "openpyxl", "xllamacpp", "python_calamine", "vl_convert", "playwright"}}
print("heavy:", *sorted(heavy & set(sys.modules)))
"""


def test_every_command_answers_help_with_no_variable_set_and_loads_nothing_heavy(tmp_path: Path) -> None:
    """Each start is about a second as long as what is slow to import is imported only where it is used."""
    code = "import os; os.environ['DJANGO_SETTINGS_MODULE'] = 'consilium.settings'" + HELP_FOR_ALL.format(ours=OURS)
    result = python("-c", code, var=tmp_path)
    assert result.returncode == 0, result.stderr
    *names, heavy = result.stdout.splitlines()
    ours = {name for name, app in get_commands().items() if app in OURS}
    assert ours
    assert ours <= set(names)
    assert heavy == "heavy:"


def test_help_by_the_real_command_line(tmp_path: Path) -> None:
    result = python("manage.py", "local_grader", "--help", var=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "not to be trusted" in " ".join(result.stdout.split())
