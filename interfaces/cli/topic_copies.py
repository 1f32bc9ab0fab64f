"""`ottla topic clone|download`: a copy of a topic, as a topic or as a file of JSON lines."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from interfaces.cli.client import Clients
from interfaces.cli.configs import configs_of
from interfaces.cli.consume import Message, assigned, form_of
from interfaces.cli.failures import CommandFailed
from interfaces.cli.produce import Sending, producer_options
from interfaces.cli.topic import new_topic

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient


def download(parsed: argparse.Namespace) -> int:
    if parsed.file == "-":
        assigned(parsed, form_of(parsed)).run(parsed.number)
        return 0
    target = Path(parsed.file)
    partial = target.with_name(f"{target.name}.partial")
    if target.exists():
        raise CommandFailed(f"{target} exists")
    try:
        out = partial.open("xb")
    except OSError as failure:
        raise CommandFailed(f"{partial}: {failure.strerror}") from None
    try:
        with out:
            reading = assigned(parsed, form_of(parsed))
            reading.out = out
            count = reading.run(parsed.number)
        partial.rename(target)
    except OSError as failure:
        raise CommandFailed(f"{target}: {failure.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
    print(f"{target}: {count} records")
    return 0


def clone(parsed: argparse.Namespace) -> int:
    """By the wire, so that it works with any broker; a clone that fails is deleted."""
    clients = Clients(parsed)
    admin = clients.admin()
    [source], target = parsed.topics, parsed.target
    count = len(clients.partitions(admin, source))
    found = configs_of(clients, admin, source)
    configs = {one["name"]: one["value"] for one in found if one["set"]} | dict(parsed.config or ())
    replicas = clients.metadata(admin).topics[source].partitions[0].replicas
    [future] = admin.create_topics(
        [new_topic(target, count, len(replicas), configs)], request_timeout=clients.timeout_s
    ).values()
    clients.result(f"topic {target}", future)
    try:
        copied = 0 if parsed.no_records else _copy(parsed, clients, target)
    except BaseException:
        _delete(clients, admin, target)
        raise
    print(f"{target}: created with {copied} records")
    return 0


def _copy(parsed: argparse.Namespace, clients: Clients, target: str) -> int:
    sending = Sending(clients, clients.producer(**producer_options(parsed, clients)))

    def send(message: Message) -> bytes:
        facts: dict[str, Any] = {"key": message.key(), "value": message.value()}
        if headers := message.headers():
            facts["headers"] = headers
        if (timestamp := message.timestamp()[1]) > 0:
            facts["timestamp"] = timestamp
        sending.send(target, partition=message.partition(), **facts)
        return b""

    try:
        assigned(parsed, send).run(None)
    finally:
        sending.finish()
    return sending.count


def _delete(clients: Clients, admin: AdminClient, topic: str) -> None:
    [future] = admin.delete_topics([topic], request_timeout=clients.timeout_s).values()
    clients.result(f"topic {topic}, which is incomplete", future)
