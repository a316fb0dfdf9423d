"""`make run` for real: what it starts, what it prints, and that its end leaves nothing behind and loses nothing."""

import json
import os
import pty
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from consilium.embedded import temporary_folder
from consilium.processes import Child, command_line_of, is_alive
from consilium.running.once import CannotRun, RunningOnce, choose_port, is_free

ROOT = Path(__file__).resolve().parents[2]
ON_LINUX = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="reads /proc")
READY = "Ctrl-C ends it"
PATIENCE = 120


class Terminal:
    """A terminal of its own with `make run` in it, as a person has it."""

    def __init__(
        self, var: Path, *, words: tuple[str, ...] = ("make", "--no-print-directory", "run"), **environ: str
    ) -> None:
        self.var = var
        self.output = ""
        ours = {"DATABASE_URL", "CONSILIUM_DEMO", "PORT", "ALLOWED_HOSTS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}
        bare = {name: value for name, value in os.environ.items() if name not in ours}
        self.screen, inside = pty.openpty()
        self.process = subprocess.Popen(
            words,
            cwd=ROOT,
            env={**bare, "CONSILIUM_VAR": str(var), "PORT": str(free_port()), "NO_COLOR": "1", **environ},
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
            preexec_fn=lambda: take_terminal(),
        )
        os.close(inside)
        os.set_blocking(self.screen, False)

    def read(self) -> str:
        try:
            while data := os.read(self.screen, 65536):
                self.output += data.decode(errors="replace").replace("\r\n", "\n")
        except (BlockingIOError, OSError):
            pass  # nothing new, or the other side is closed
        return self.output

    def wait_for(self, words: str, seconds: float = PATIENCE) -> str:
        until = time.monotonic() + seconds
        while words not in self.read():
            assert time.monotonic() < until, self.output
            assert self.process.poll() is None or words in self.read(), self.output
            time.sleep(0.05)
        return self.output

    def press_ctrl_c(self) -> None:
        os.write(self.screen, b"\x03")

    def close(self) -> None:
        """Close the window."""
        os.close(self.screen)

    def wait(self, seconds: float = 30) -> int:
        """The exit code; output is read meanwhile, so that nobody waits for the screen."""
        until = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < until, f"{seconds} s were not enough\n{self.output}"
            self.read()
            time.sleep(0.05)
        self.read()
        return self.process.returncode

    @property
    def address(self) -> str:
        found = re.search(r"http://127\.0\.0\.1:\d+/", self.output[self.output.index("Open ") :])
        assert found
        return found.group()


def take_terminal() -> None:
    """In the child: its standard input is the terminal that its session listens to (Ctrl-C, the closing)."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def status_of(address: str) -> int:
    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *args: object) -> None:
            return None

    try:
        return int(urllib.request.build_opener(Stay).open(address, timeout=10).status)
    except urllib.error.HTTPError as answer:
        return answer.code


def processes_of(var: Path) -> dict[int, str]:
    """Every living process that was given this folder, or that works on the data in it."""
    mark, found = f"CONSILIUM_VAR={var}".encode(), {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            environ = (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        command = command_line_of(int(entry.name))
        if is_alive(int(entry.name)) and (mark in environ or f"-D {var}" in command):
            found[int(entry.name)] = command
    return found


def wait_until_none_is_left(var: Path, seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while left := processes_of(var):
        assert time.monotonic() < until, left
        time.sleep(0.1)


@pytest.fixture
def var() -> Iterator[Path]:
    folder = temporary_folder("consilium-running")
    yield folder / "var"
    for pid in processes_of(folder / "var") if Path("/proc/self/environ").exists() else ():
        os.kill(pid, signal.SIGKILL)
    shutil.rmtree(folder, ignore_errors=True)


def database_of(var: Path) -> "psycopg.Connection[tuple[object, ...]]":
    return psycopg.connect((var / "database_url").read_text().strip())


@ON_LINUX
def test_a_start_answers_tells_how_to_sign_in_and_ends_at_ctrl_c_without_a_trace(var: Path) -> None:
    terminal = Terminal(var)
    said = terminal.wait_for(READY)
    assert re.search(r"Open http://127\.0\.0\.1:\d+/demo/ and choose who you are", said)
    for role in ("clinician", "admin", "researcher"):
        assert re.search(rf"^    {role} +\S.*, \S+@\S+$", said, re.MULTILINE), said
    assert "not to be trusted" in said

    assert status_of(terminal.address + "healthz") == 200
    assert status_of(terminal.address + "demo/") == 200
    assert stat.S_IMODE((var / "database_url").stat().st_mode) == 0o600
    with database_of(var) as connection:
        assert connection.execute("SELECT count(*) FROM annotation_study").fetchone() == (1,)
    commands = " ".join(processes_of(var).values())
    for part in ("gunicorn", "procrastinate worker", "local_grader", "postgres -D"):
        assert part in commands
    assert others_can_reach(terminal.address) is False

    second = subprocess.run(
        [sys.executable, "-m", "consilium.running"],
        cwd=ROOT,
        env={**os.environ, "CONSILIUM_VAR": str(var)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert second.returncode == 1
    assert f"running already at {terminal.address}" in second.stdout
    assert status_of(terminal.address + "healthz") == 200

    began = time.monotonic()
    terminal.press_ctrl_c()
    terminal.wait()
    assert time.monotonic() - began < 12
    assert "nothing was lost" in terminal.output
    assert "Traceback" not in terminal.output
    assert processes_of(var) == {}
    assert not (var / "database_url").exists()


def others_can_reach(address: str) -> bool:
    """Whether the port answers at this machine's own address in its network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing; only tells which address would be used
        except OSError:
            return False
        own = probe.getsockname()[0]
    try:
        socket.create_connection((own, int(address.rsplit(":", 1)[1].strip("/"))), timeout=3).close()
    except OSError:
        return False
    return True


@ON_LINUX
def test_a_kill_a_second_start_a_dead_worker_and_a_closed_window(var: Path) -> None:
    first = Terminal(var, CONSILIUM_DEMO="0")
    first.wait_for(READY)
    with database_of(var) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'before the kill' AS word")
    supervisor = next(pid for pid, command in processes_of(var).items() if "consilium.running" in command)
    os.kill(supervisor, signal.SIGKILL)

    # At once, while the parts of the first are still on their way out, and at the same port.
    began = time.monotonic()
    second = Terminal(var, CONSILIUM_DEMO="0", PORT=first.address.rsplit(":", 1)[1].strip("/"))
    second.wait_for(READY)
    assert second.address == first.address
    with database_of(var) as connection:
        assert connection.execute("SELECT word FROM kept").fetchone() == ("before the kill",)
    assert time.monotonic() - began < 60
    running = processes_of(var)
    assert len([1 for command in running.values() if "procrastinate worker" in command]) == 1
    assert len([1 for command in running.values() if "postgres -D" in command and "io worker" not in command]) == 1

    worker = next(pid for pid, command in running.items() if "procrastinate worker" in command)
    os.kill(worker, signal.SIGKILL)
    second.wait_for("The worker ended by itself (exit code -9) and is started again.")
    until = time.monotonic() + 30
    while worker in processes_of(var) or not any("procrastinate worker" in c for c in processes_of(var).values()):
        assert time.monotonic() < until
        time.sleep(0.1)

    second.close()
    second.process.wait(30)
    wait_until_none_is_left(var)
    assert not (var / "database_url").exists()


@ON_LINUX
@pytest.mark.parametrize("wish", [signal.SIGTERM, signal.SIGKILL])
def test_the_end_of_make_is_the_end_of_everything(var: Path, wish: signal.Signals) -> None:
    terminal = Terminal(var, CONSILIUM_DEMO="0")
    terminal.wait_for("PostgreSQL")
    terminal.process.send_signal(wish)
    terminal.process.wait(30)
    wait_until_none_is_left(var)
    assert not (var / "database_url").exists()


@ON_LINUX
def test_a_database_of_ones_own_is_used_and_left_running(var: Path) -> None:
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS of_my_own WITH (FORCE)")
        connection.execute("CREATE DATABASE of_my_own")
    name = psycopg.conninfo.conninfo_to_dict(os.environ["DATABASE_URL"])["dbname"]
    url = os.environ["DATABASE_URL"].replace(f"/{name}?", "/of_my_own?")
    assert "of_my_own" in url
    terminal = Terminal(var, CONSILIUM_DEMO="0", DATABASE_URL=url)
    terminal.wait_for(READY)
    assert not (var / "postgres").exists()
    assert not (var / "database_url").exists()
    terminal.process.send_signal(signal.SIGTERM)
    terminal.process.wait(30)
    wait_until_none_is_left(var)
    with psycopg.connect(url, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM annotation_study").fetchone() == (0,)
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("DROP DATABASE of_my_own WITH (FORCE)")


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"PORT": "http"}, "PORT is 'http'; it takes a number from 1 to 65535."),
        ({"PORT": "70000"}, "it takes a number from 1 to 65535."),
        ({"ALLOWED_HOSTS": "study.example.org"}, "make run is for this machine alone"),
        ({"CONSILIUM_DEMO": "perhaps"}, "CONSILIUM_DEMO is 'perhaps'"),
        ({"DATABASE_URL": "postgresql://127.0.0.1:1/none?connect_timeout=2"}, "can't be reached at DATABASE_URL"),
        ({"DATABASE_URL": "mysql://localhost/x"}, "postgresql://"),
    ],
)
def test_what_can_not_be_is_said_in_a_sentence(var: Path, environ: dict[str, str], sentence: str) -> None:
    bare = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "PORT"}}
    result = subprocess.run(
        [sys.executable, "-m", "consilium.running"],
        cwd=ROOT,
        env={**bare, "CONSILIUM_VAR": str(var), **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 1
    assert sentence in result.stdout + result.stderr
    assert "Traceback" not in result.stderr
    assert not (var / "postgres").exists()


def test_a_taken_port_is_named_with_a_free_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_free(port)
        with pytest.raises(CannotRun, match=rf"Port {port} is taken by another program.* PORT=\d+ make run"):
            choose_port(str(port))
        assert choose_port("", first=port, last=min(port + 50, 65535)) > port
        with pytest.raises(CannotRun, match="All ports"):
            choose_port("", first=port, last=port)


def test_a_port_that_every_address_listens_at_is_taken_too() -> None:
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        assert not is_free(taken.getsockname()[1])


def test_only_one_holds_the_lock_and_its_end_sets_it_free(tmp_path: Path) -> None:
    first = RunningOnce(tmp_path / "run.lock")
    first.record(address="http://127.0.0.1:8123/", children=[])
    with pytest.raises(CannotRun, match=r"running already at http://127\.0\.0\.1:8123/ \(process \d+\)"):
        RunningOnce(tmp_path / "run.lock")
    first.release()
    RunningOnce(tmp_path / "run.lock").release()


def test_what_a_killed_start_left_is_ended_and_nothing_else(tmp_path: Path) -> None:
    ours = [sys.executable, "-c", "import time; time.sleep(300)"]
    left = Child("left", ours, env=dict(os.environ), log=tmp_path / "left.log")
    other = Child("other", ["sleep", "300"], env=dict(os.environ), log=tmp_path / "other.log")
    left.start()
    other.start()
    assert left.process
    assert other.process
    known = {str(left.process.pid): " ".join(ours), str(other.process.pid): "manage.py procrastinate worker"}
    (tmp_path / "run.lock").write_text(json.dumps({"children": known}))
    try:
        once = RunningOnce(tmp_path / "run.lock")
        once.end_leftovers()
        assert left.process.wait(5) == -signal.SIGTERM
        assert other.is_running, "its number was given to another program since"
        once.release()
    finally:
        left.kill()
        other.kill()


def test_a_child_is_read_in_whole_lines_without_what_moves_a_cursor(tmp_path: Path) -> None:
    talk = r"printf 'one\ntwo \033[31mred\033[0m\nhalf'; sleep 0.3; printf ' whole\n'"
    child = Child("talk", ["sh", "-c", talk], env=dict(os.environ), log=tmp_path / "talk.log")
    child.start()
    assert child.process
    child.process.wait(10)
    assert child.read() == ["one", "two [31mred[0m", "half whole"]
    assert child.read() == []
    assert b"\x1b[31m" in (tmp_path / "talk.log").read_bytes()
    child.kill()
