"""A database for each world, made from one template, and a process that looks at each."""

import gc
import logging
import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import psycopg
from django.db import connection
from psycopg import sql

from tests.worlds.scene import WORLDS, Scene, set_the_scene, vote_secretly

T = TypeVar("T")


class Server:
    """The database server of the test database, for making databases beside it."""

    def __init__(self) -> None:
        self.home = str(connection.settings_dict["NAME"])
        self.made: list[str] = []

    def _run(self, statement: sql.Composed) -> None:
        connection.close()
        facts = connection.get_connection_params() | {"dbname": "postgres"}
        facts = {key: value for key, value in facts.items() if key in {"dbname", "host", "port", "user", "password"}}
        with psycopg.connect(**facts, autocommit=True) as maintenance:
            maintenance.execute(statement)

    def copy(self, source: str, name: str) -> str:
        self.drop(name)
        self._run(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(source)))
        self.made.append(name)
        return name

    def drop(self, name: str) -> None:
        self._run(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    @contextmanager
    def inside(self, name: str) -> Iterator[None]:
        """Everything that Django does goes to the database ``name``."""
        connection.close()
        connection.settings_dict["NAME"] = name
        try:
            yield
        finally:
            connection.close()
            connection.settings_dict["NAME"] = self.home

    def clean_up(self) -> None:
        for name in self.made:
            self.drop(name)


_told: dict[str, Any] = {}
"""What the processes that look at a world take from the one that made it: they are forked from it."""


def in_each_world(look: Callable[[Scene, str], T]) -> dict[str, T]:
    """What somebody finds who looks at each world, in a process of its own: ``look(scene, name of the world)``."""
    server = Server()
    origin = server.copy(server.home, f"{server.home}_origin")
    try:
        with server.inside(origin):
            scene = set_the_scene()
        for world in WORLDS:
            with server.inside(server.copy(origin, f"{server.home}_{world}")):
                vote_secretly(scene, world)
        _told.update(server=server, scene=scene, look=look)
        with multiprocessing.get_context("fork").Pool(len(WORLDS)) as processes:
            return dict(zip(WORLDS, processes.map(_look_at, WORLDS, chunksize=1), strict=True))
    finally:
        _told.clear()
        server.clean_up()


def _look_at(world: str) -> Any:
    server = _told["server"]
    gc.disable()  # the process ends soon
    logging.disable(logging.ERROR)  # hundreds of refusals are expected
    with server.inside(f"{server.home}_{world}"):
        return _told["look"](_told["scene"], world)
