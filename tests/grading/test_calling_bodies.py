"""Bodies that are longer than any verdict, plain or packed: read up to a bound, never into all of the memory."""

import asyncio
import socket
import threading
import tracemalloc
import zlib
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from grading.calling import LONGEST_BODY, Answered, EndpointClient, Outcome

PART = b"x" * 1_000_000
PARTS = 300
HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"


def packed_parts() -> bytes:
    packing = zlib.compressobj(wbits=31)
    return b"".join([*(packing.compress(PART) for _ in range(PARTS)), packing.flush()])


@contextmanager
def server(*sent: bytes) -> Iterator[str]:
    """Answers one request with these parts, as far as anybody reads them."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65_536)
            try:
                for part in sent:
                    connection.sendall(part)
            except OSError:
                pass  # nobody reads on: as it should be

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.close()
        thread.join(20)


async def ask(url: str) -> Outcome:
    client = EndpointClient(base_url=url, key="", seconds=60)
    try:
        return await client.call({"model": "m", "messages": []})
    finally:
        await client.close()


def run_apart(call: Coroutine[Any, Any, Outcome]) -> Outcome:
    """In a thread of its own: a browser's test before this one leaves a loop running in its thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, call).result()


@pytest.mark.parametrize("packed", [False, True])
def test_a_body_of_300_megabytes_is_cut_and_never_held(packed: bool) -> None:
    sent = (
        [HEADERS + b"Content-Encoding: gzip\r\n\r\n", packed_parts()]
        if packed
        else [HEADERS + b"\r\n", *[PART] * PARTS]
    )
    with server(*sent) as url:
        run_apart(ask("http://127.0.0.1:9/v1"))  # what the client's library takes once is not the body's
        tracemalloc.start()
        try:
            outcome = run_apart(ask(url))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert isinstance(outcome, Answered)
    assert len(outcome.body) == LONGEST_BODY
    assert peak < 120_000_000, f"{peak:,} bytes"
