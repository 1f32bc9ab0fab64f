"""`ottla doctor`: every step of a client, or a database, until one fails, and the remedy."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from domain.configs.passwords import without_password
from interfaces.cli.client import Clients
from interfaces.cli.cluster_requests import WHY_FENCED, registered_brokers
from interfaces.cli.failures import CommandFailed, UsageError
from interfaces.cli.output import show
from interfaces.cli.probe.checks import checked
from interfaces.cli.probe.finding import PROBLEM, Finding, ok, problem
from interfaces.cli.probe.pace import Pace

_STEP_S = 3.0
_CHECK_URL = (
    "PostgreSQL must run, and accept what the URL has: `psql -h HOST -p PORT -U USER DATABASE` "
    "must connect"
)


def doctor(parsed: argparse.Namespace) -> int:
    found: list[Finding] = []
    findings = _of_storage(parsed.storage) if parsed.storage else _findings(Clients(parsed))
    for finding in findings:
        found.append(finding)
        if parsed.output == "table":
            print(finding.line(), flush=True)
    if parsed.output != "table":
        rows = [{"level": one.level, "what": one.what, "remedy": one.remedy} for one in found]
        show(rows, parsed.output, "")
    return 1 if any(one.level == PROBLEM for one in found) else 0


def _of_storage(url: str) -> Iterator[Finding]:
    from infrastructure.opening import store_of
    from infrastructure.storage.errors import StorageUnreachable, StorageUnusable

    scheme, _, place = url.partition("://")
    if scheme != "postgresql" or not place:
        raise UsageError("--storage checks postgresql://user@host/database only")
    try:
        store_of(url)  # the driver, and the URL
        from interfaces.cli.probe.database import check_database

        yield from check_database(place)
    except StorageUnusable as unusable:
        what = f"a broker cannot use {without_password(url)}: {unusable}"
        is_unreachable = isinstance(unusable, StorageUnreachable)
        yield problem(what, _CHECK_URL if is_unreachable else "see docs/storage.md")


def _findings(clients: Clients) -> Iterator[Finding]:
    protocol = clients.protocol()
    pace = Pace(min(_STEP_S, clients.timeout_s))
    some_work = False
    for address in clients.addresses():
        problems = 0
        for finding in checked(address, protocol, pace, every_node=True):
            problems += finding.level == PROBLEM
            yield finding
        some_work |= not problems
    if some_work:
        yield from _fenced(clients)
        yield _with_librdkafka(clients)


def _fenced(clients: Clients) -> Iterator[Finding]:
    """As the first broker that responds knows: itself too, while it is cut off."""
    try:
        with clients.wire("the brokers") as client:
            brokers = registered_brokers(client)
    except CommandFailed:  # an older Kafka; what does not work is found without it
        return
    for one in brokers:
        if one.is_fenced:
            yield problem(
                f"broker {one.broker_id} is fenced: {WHY_FENCED}; it leads no partition",
                "see its log, and run `ottla doctor --storage URL` where it runs",
            )


def _with_librdkafka(clients: Clients) -> Finding:
    clients.is_diagnosed = True
    try:
        topics = len(clients.metadata(clients.admin()).topics)
    except CommandFailed as failure:
        why = str(failure).removesuffix(clients.advice())
        remedy = "check -X: security.protocol, sasl.* and ssl.* must fit the listener"
        if "authentication" in why.lower():
            remedy = "check -X sasl.username and sasl.password"
        return problem(f"librdkafka does not connect: {why}", remedy)
    return ok(f"librdkafka connects and sees {topics} topics")
