"""Graders: an endpoint, a model, a prompt version, a mode and parameters, known in a study by a name.

A name stands for one set of facts. Registered again with the same it is unchanged; with others it is refused, because
what made a verdict must stay known: another model is another grader. The digest covers what decides the verdicts
(endpoint, model, the prompt's words, mode, parameters), not how fast it is asked. Two servers may serve different
models under one name, so the endpoint is its host and path; this machine is one endpoint, whose ports move.

A key never passes through here, only the name of the environment variable that holds it where the worker runs.
"""

import ipaddress
import json
import re
import socket
import unicodedata
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext, gettext_noop

from annotation.demo import demo_study
from annotation.models import Study, User
from consilium.canonical import sha256_hex
from consilium.environment import is_this_machine
from consilium.errors import RuleViolation
from grading import prompts
from grading.local_grader import CALLS_AT_ONCE, MODEL
from grading.models import Grader

ENDPOINT_CLASS = "openai chat completions"
DEFAULT_PARAMETERS: Mapping[str, Any] = {"temperature": 0}
LOCAL_GRADER = "local"
LOCAL_PARAMETERS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 600, "longest_text": 160}
"""A model this small doesn't come to an end by itself: its texts are bounded."""

OURS = frozenset({"longest_text", "response_format"})
"""Parameters that shape the request and are not sent as they stand."""
_RESERVED = frozenset({"model", "messages", "stream", "n", "tools", "tool_choice", "functions"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class NotYetPerResponse(RuleViolation):
    """One call per response for all its criteria comes later; a grader makes one call per criterion."""


class GraderNameIsTaken(RuleViolation):
    """The study has a grader "{name}" already, with another {facts}. Give this one another name."""


class GraderNeedsAName(RuleViolation):
    """A grader needs a name of 1 to 100 characters."""


class ModelIsMissing(RuleViolation):
    """A grader needs the name of a model, of 1 to 200 characters."""


class AddressNotUsable(RuleViolation):
    """The address can't be used: {reason}."""


class KeyVariableNotUsable(RuleViolation):
    """No environment variable has a name like that. Its name is asked for, never the key itself."""


class KeyVariableNotListed(RuleViolation):
    """Keys are taken from the environment variables that this site lists (GRADER_KEY_VARIABLES); "{name}" is none."""


class ConcurrencyOutOfRange(RuleViolation):
    """The number of calls at once is a whole number from 1 to 1,000."""


class ParameterNotUsable(RuleViolation):
    """ "{name}" can't be a grader's parameter: the request's own words say it."""


def register_grader(
    *,
    study: Study,
    name: str,
    base_url: str,
    model: str,
    mode: str = Grader.Mode.PER_CRITERION,
    parameters: Mapping[str, Any] | None = None,
    api_key_variable: str = "",
    concurrency: int = 8,
    prompt_version: str = prompts.NEWEST,
    is_trial_only: bool = False,
    by: User | None = None,
    on_page: bool = True,
) -> Grader:
    """Make a grader, or find the one that stands under this name with the same facts.

    ``parameters`` go into the request as they stand (temperature, max_tokens, seed ...), except ``response_format``
    ("json_schema", the default, or "none") and ``longest_text`` (characters; bounds the schema's texts). A page may
    name only a key's variable that the settings list, the command line (``on_page=False``) any. Raises
    GraderNameIsTaken and the refusals of this module.
    """
    name, model, api_key_variable = name.strip(), model.strip(), api_key_variable.strip()
    if not 1 <= len(name) <= 100:
        raise GraderNeedsAName
    if not 1 <= len(model) <= 200:
        raise ModelIsMissing
    if mode != Grader.Mode.PER_CRITERION:
        raise NotYetPerResponse
    if not 1 <= concurrency <= 1000:
        raise ConcurrencyOutOfRange
    _check_key_variable(api_key_variable, on_page=on_page)
    address = check_address(base_url, on_page=on_page)
    is_trial_only = is_trial_only or is_local_model(model, address)
    if parameters is None:
        parameters = LOCAL_PARAMETERS if is_trial_only else DEFAULT_PARAMETERS
    parameters = dict(parameters)
    for parameter in parameters:
        if parameter in _RESERVED:
            raise ParameterNotUsable(name=parameter)
    facts: dict[str, Any] = {
        "base_url": address,
        "model": model,
        "prompt_version": prompt_version,
        "mode": mode,
        "parameters": parameters,
        "api_key_variable": api_key_variable,
        "concurrency": concurrency,
    }
    digest = grader_digest(
        base_url=address, model=model, prompt_version=prompt_version, mode=mode, parameters=parameters
    )
    try:
        with transaction.atomic():
            grader, _ = Grader.objects.get_or_create(
                study=study,
                name=name,
                defaults={**facts, "digest": digest, "is_trial_only": is_trial_only, "created_by": by},
            )
    except IntegrityError:  # two at once; the other has made it
        grader = Grader.objects.get(study=study, name=name)
    if differing := [gettext(_FACTS[fact]) for fact, value in facts.items() if getattr(grader, fact) != value]:
        raise GraderNameIsTaken(name=name, facts=", ".join(differing))
    return grader


_FACTS = {
    "base_url": gettext_noop("address"),
    "model": gettext_noop("model"),
    "prompt_version": gettext_noop("prompt version"),
    "mode": gettext_noop("mode"),
    "parameters": gettext_noop("parameters"),
    "api_key_variable": gettext_noop("key variable"),
    "concurrency": gettext_noop("number of calls at once"),
}


def is_local_model(model: str, address: str) -> bool:
    """Whether a grader is the local one, under whatever name of it: for trying the product, never to be trusted."""
    return MODEL in model.lower() and is_this_machine(urlsplit(address).hostname or "")


def register_local_endpoint(base_url: str) -> Grader | None:
    """Tell the demo's grader "local" where the local grader listens now; None where there is no demo study.

    Its model and its digest stay; only the port moves, which no verdict depends on.
    """
    study = demo_study()
    if study is None:
        return None
    address = check_address(base_url, on_page=False)
    grader = Grader.objects.filter(study=study, name=LOCAL_GRADER).first()
    if grader is None:
        grader = register_grader(
            study=study,
            name=LOCAL_GRADER,
            base_url=address,
            model=MODEL,
            concurrency=CALLS_AT_ONCE,
        )
    Grader.objects.filter(pk=grader.pk).exclude(base_url=address).update(base_url=address)
    grader.base_url = address
    return grader


def grader_digest(*, base_url: str, model: str, prompt_version: str, mode: str, parameters: Mapping[str, Any]) -> str:
    """SHA-256 (64 hex digits) over what decides a grader's verdicts. ``base_url`` is as ``check_address`` gives it."""
    parts = urlsplit(base_url)
    facts = {
        "endpoint": "this machine" if is_this_machine(parts.hostname or "") else parts.netloc + parts.path,
        "endpoint_class": ENDPOINT_CLASS,
        "model": model,
        "mode": mode,
        "parameters": parameters,
        "prompt": prompts.load(prompt_version).digest,
        "prompt_version": prompt_version,
    }
    # Parameters hold fractions (temperature 0.7), which a canonical line refuses.
    return sha256_hex(json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())


def check_address(base_url: str, *, on_page: bool) -> str:
    """The endpoint's address without a slash at its end. Raises AddressNotUsable with the reason.

    On a page of a server in production, what else listens on that machine is no researcher's business unless listed.
    """
    given = base_url.strip()
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        raise AddressNotUsable(reason=gettext("it has a host or a port that is none")) from None
    host = parts.hostname or ""
    if parts.scheme not in {"http", "https"} or not host:
        raise AddressNotUsable(
            reason=gettext("it begins with http:// or https:// and a host, as http://127.0.0.1:8080/v1 does")
        )
    if port == 0 or len(given) > 500 or not given.isprintable() or " " in given:
        raise AddressNotUsable(reason=gettext("it is too long, or holds characters that no address has"))
    if parts.username is not None or parts.password is not None:
        raise AddressNotUsable(
            reason=gettext("it holds a name or a password; a key is given by the name of its variable")
        )
    if parts.query or parts.fragment:
        raise AddressNotUsable(reason=gettext("it ends before any ? or #"))
    if _is_link_local(host):
        raise AddressNotUsable(reason=gettext("link-local addresses are a machine's own services, not a grader"))
    if on_page and not settings.IS_LOCAL and is_this_machine(host) and host not in settings.GRADER_HTTP_HOSTS:
        said = gettext("{host} is the server itself (to be listed in GRADER_HTTP_HOSTS, if meant)")
        raise AddressNotUsable(reason=said.format(host=host))
    if parts.scheme == "http" and not is_this_machine(host) and host not in settings.GRADER_HTTP_HOSTS:
        said = gettext("http is for this machine only, {host} needs https (or to be listed in GRADER_HTTP_HOSTS)")
        raise AddressNotUsable(reason=said.format(host=host))
    return urlunsplit((parts.scheme, parts.netloc.lower(), parts.path.rstrip("/"), "", ""))


def is_outside(grader: Grader) -> bool:
    """Whether a grader's endpoint is on another machine."""
    return not is_this_machine(urlsplit(grader.base_url).hostname or "")


SERVICES_OF_A_MACHINE = {"metadata.google.internal", "metadata.goog", "fd00:ec2::254", "100.100.100.200"}
"""Where clouds hand a machine its own keys, beside the link-local addresses."""


def _is_link_local(host: str) -> bool:
    """Whether a host is a machine's own service, however it is spelt.

    Addresses are known by any spelling that a resolver takes: full-width digits, one number, octal, hexadecimal, IPv4
    inside IPv6. A name that resolves to one is beyond this: behind https its certificate wouldn't fit.
    """
    name = unicodedata.normalize("NFKC", host).replace("\u3002", ".").rstrip(".").lower()
    if name in SERVICES_OF_A_MACHINE:
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        try:
            address = ipaddress.ip_address(socket.inet_aton(name))
        except OSError:
            return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_link_local or mapped.is_unspecified or mapped.is_multicast or str(mapped) in SERVICES_OF_A_MACHINE


def _check_key_variable(name: str, *, on_page: bool) -> None:
    if not name:
        return
    if len(name) > 60 or not _VARIABLE.fullmatch(name) or _looks_like_a_key(name):
        raise KeyVariableNotUsable
    if on_page and name not in settings.GRADER_KEY_VARIABLES:
        raise KeyVariableNotListed(name=name)


def _looks_like_a_key(name: str) -> bool:
    """Somebody gives the key itself now and then; it must not end up in a table that pages show."""
    return len(name) > 24 and any(map(str.islower, name)) and any(map(str.isdigit, name))
