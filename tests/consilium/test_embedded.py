"""The embedded server: made once, found again, ended whatever happened to the process that started it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from consilium.embedded import CannotStart, EmbeddedServer, start_server, temporary_folder
from consilium.processes import command_line_of, is_alive

ROOT = Path(__file__).resolve().parents[2]

HOLD = """
import sys, time
from pathlib import Path
from consilium.embedded import start_server
server = start_server(data=Path(sys.argv[1]), log=Path(sys.argv[1] + ".log"), is_durable=False)
server.ensure_database()
print(server.process.pid, server.address(), flush=True)
time.sleep(600)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that root's server reaches too, and whose path is short."""
    folder = temporary_folder("consilium-embedded")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def start(data: Path, *, is_durable: bool = False) -> EmbeddedServer:
    return start_server(data=data, log=data.with_name("server.log"), is_durable=is_durable)


def remember(server: EmbeddedServer, word: str) -> None:
    with psycopg.connect(server.address()) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (word text)")
        connection.execute("INSERT INTO kept VALUES (%s)", [word])


def remembered(server: EmbeddedServer) -> list[str]:
    with psycopg.connect(server.address()) as connection:
        return [row[0] for row in connection.execute("SELECT word FROM kept ORDER BY word")]


def hold(data: Path) -> tuple[subprocess.Popen[str], int, str]:
    """Start a server from another process: that process, the server's number and its address."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(data)], cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ}
    )
    assert holder.stdout is not None
    pid, address = holder.stdout.readline().split()
    return holder, int(pid), address


def gone(pid: int, seconds: float = 15) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if not is_alive(pid):
            return True
        time.sleep(0.05)
    return False


def test_what_was_written_is_there_at_the_next_start(folder: Path) -> None:
    first = start(folder / "data")
    first.ensure_database()
    remember(first, "one")
    first.stop()
    assert first.process.returncode == 0
    second = start(folder / "data")
    try:
        second.ensure_database()
        assert remembered(second) == ["one"]
    finally:
        second.stop()


def test_texts_sort_by_code_point_in_utf8_whatever_the_machine_speaks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LANG", "LC_ALL", "LC_COLLATE"):
        monkeypatch.setenv(name, "de_DE.UTF-8")
    monkeypatch.setenv("PGPORT", "6000")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    server = start(folder / "data")
    try:
        server.ensure_database()
        with psycopg.connect(server.address()) as connection:
            words = connection.execute("SELECT w FROM unnest(ARRAY['b', 'a', 'B', 'é', 'Z', 'ß']) w ORDER BY w")
            assert [row[0] for row in words] == ["B", "Z", "a", "b", "ß", "é"]
            facts = connection.execute(
                "SELECT lower('ÀÇ'), current_setting('server_encoding'), current_setting('TimeZone')"
            )
            assert facts.fetchone() == ("àç", "UTF8", "UTC")
    finally:
        server.stop()


def test_nobody_reaches_it_over_the_network_or_without_being_let_in(folder: Path) -> None:
    server = start(folder / "data")
    try:
        with psycopg.connect(server.address("postgres")) as connection:
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
        assert (folder / "data").stat().st_mode & 0o777 == 0o700
        assert (server.sockets / ".s.PGSQL.5432").stat().st_mode & 0o777 == 0o700
    finally:
        server.stop()


@pytest.mark.parametrize("name", ["with spaces", 'with,comma and "quote"', "long" * 40])
def test_any_folder_will_do(folder: Path, name: str) -> None:
    """A socket's path may have a hundred bytes, and an address of several hosts is written with commas."""
    server = start(folder / name / "data")
    try:
        server.ensure_database()
        remember(server, "here")
        assert remembered(server) == ["here"]
        assert len(os.fsencode(server.sockets)) <= 80
    finally:
        server.stop()
        if server.sockets != folder / name / "data":
            shutil.rmtree(server.sockets)


def test_a_socket_folder_that_someone_else_made_is_refused(folder: Path) -> None:
    data = folder / ("long" * 40) / "data"
    server = start(data)
    server.stop()
    server.sockets.chmod(0o777)
    try:
        with pytest.raises(CannotStart, match="belongs to someone else"):
            start(data)
    finally:
        shutil.rmtree(server.sockets)


def test_it_ends_with_the_process_that_started_it_and_loses_nothing(folder: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("Elsewhere than on Linux the next start ends it.")
    holder, pid, address = hold(folder / "data")
    with psycopg.connect(address) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 'before the kill' AS word")
    holder.kill()
    holder.wait()
    assert gone(pid)
    server = start(folder / "data")
    try:
        assert remembered(server) == ["before the kill"]
    finally:
        server.stop()


def test_a_server_that_was_left_over_is_ended_by_the_next_start(folder: Path) -> None:
    holder, pid, _ = hold(folder / "data")
    try:
        assert str(folder / "data") in command_line_of(pid)
        server = start(folder / "data")
        try:
            assert not is_alive(pid)
            assert server.process.pid != pid
            server.ensure_database()
        finally:
            server.stop()
    finally:
        holder.kill()
        holder.wait()


def test_a_killed_server_recovers(folder: Path) -> None:
    first = start(folder / "data", is_durable=True)
    first.ensure_database()
    remember(first, "committed")
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    assert (folder / "data" / "postmaster.pid").exists()
    second = start(folder / "data")
    try:
        assert remembered(second) == ["committed"]
    finally:
        second.stop()


def test_a_number_that_another_program_was_given_is_left_alone(folder: Path) -> None:
    """After a restart of a container the file's number is often that of a living program of the same person."""
    server = start(folder / "data")
    server.stop()
    other = subprocess.Popen(["sleep", "60"], user=(folder / "data").stat().st_uid, cwd="/")
    try:
        file = folder / "data" / "postmaster.pid"
        file.write_text(f"{other.pid}\n{folder / 'data'}\n1\n5432\n{folder / 'data'}\n\n\nready\n")
        again = start(folder / "data")
        again.stop()
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_start_that_was_cut_off_while_making_the_data_is_made_again(folder: Path) -> None:
    (folder / "data.new").mkdir()
    (folder / "data.new" / "PG_VERSION").write_text("18\n")
    server = start(folder / "data")
    server.stop()
    assert not (folder / "data.new").exists()


def test_a_folder_with_something_else_in_it_is_not_touched(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "thesis.txt").write_text("mine")
    with pytest.raises(CannotStart, match="holds other files"):
        start(folder / "data")
    assert (folder / "data" / "thesis.txt").read_text() == "mine"


def test_data_of_another_version_is_not_touched(folder: Path) -> None:
    server = start(folder / "data")
    server.stop()
    (folder / "data" / "PG_VERSION").write_text("16\n")
    with pytest.raises(CannotStart, match="made by PostgreSQL 16; this is PostgreSQL 18"):
        start(folder / "data")


def test_a_server_that_does_not_start_says_why(folder: Path) -> None:
    server = start(folder / "data")
    server.stop()
    (folder / "data" / "postgresql.conf").write_text("no_such_setting = 1\n")
    with pytest.raises(CannotStart, match="no_such_setting"):
        start(folder / "data")


def test_root_opens_only_the_way_to_the_data(folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("Only root's server runs as someone else.")
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    (closed / "letter.txt").write_text("private")
    (closed / "letter.txt").chmod(0o600)
    server = start(closed / "var" / "data")
    server.stop()
    assert closed.stat().st_mode & 0o777 == 0o701, "passing through, not listing"
    assert (closed / "letter.txt").stat().st_mode & 0o777 == 0o600
