"""`ottla topic config get|set|unset`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from interfaces.cli import effects
from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.output import show_rows

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

#: ConfigSource of a config that is set for the topic.
_OF_THE_TOPIC = 1
_SOURCES = {
    0: "unknown",
    1: "topic",
    2: "broker",
    3: "all brokers",
    4: "broker file",
    5: "default",
    6: "group",
}


def get(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    found = configs_of(clients, admin, parsed.name)
    _refuse_unknown(parsed.keys, found)
    of_ottla = effects.is_ottla(clients, admin)
    rows = [
        one | {"effect": effects.effect(one["name"]) if of_ottla else "yes"}
        for one in found
        if (not parsed.keys or one["name"] in parsed.keys) and (one["set"] or not parsed.set_only)
    ]
    show_rows(rows, parsed.output, ("name", "value", "source", "effect"))
    return 0


def configs_of(clients: Clients, admin: AdminClient, topic: str) -> list[dict[str, Any]]:
    from confluent_kafka.admin import ConfigResource

    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    with clients.requesting(f"the configs of {topic}", admin):
        [future] = admin.describe_configs([resource], request_timeout=clients.timeout_s).values()
    entries = clients.result(f"the configs of {topic}", future, admin)
    return [
        {
            "name": name,
            "value": None if entry.is_sensitive else entry.value,
            "source": _SOURCES.get(int(entry.source), str(entry.source)),
            "set": int(entry.source) == _OF_THE_TOPIC,
        }
        for name, entry in sorted(entries.items())
    ]


def put(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    configs = dict(parsed.values)
    _alter(clients, admin, parsed, configs)
    for name, value in parsed.values:
        print(f"{parsed.name}: {name}={value}{_only(parsed)}")
    effects.warn(clients, admin, configs)
    return 0


def unset(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    # A broker takes the deletion of an unknown config as done.
    _refuse_unknown(parsed.keys, configs_of(clients, admin, parsed.name))
    _alter(clients, admin, parsed, dict.fromkeys(parsed.keys))
    for name in parsed.keys:
        print(f"{parsed.name}: {name} unset{_only(parsed)}")
    return 0


def _refuse_unknown(names: list[str], found: list[dict[str, Any]]) -> None:
    unknown = sorted(set(names) - {one["name"] for one in found})
    if unknown:
        raise CommandFailed(f"unknown topic config {', '.join(unknown)}")


def _only(parsed: argparse.Namespace) -> str:
    return " (dry run)" if parsed.dry_run else ""


def _alter(
    clients: Clients,
    admin: AdminClient,
    parsed: argparse.Namespace,
    changes: Mapping[str, str | None],
) -> None:
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

    entries = [
        ConfigEntry(
            name,
            value if value is not None else "",
            incremental_operation=(
                AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
            ),
        )
        for name, value in changes.items()
    ]
    resource = ConfigResource(ConfigResource.Type.TOPIC, parsed.name, incremental_configs=entries)
    what = f"topic {parsed.name}"
    with clients.requesting(what, admin):
        [future] = admin.incremental_alter_configs(
            [resource], validate_only=parsed.dry_run, request_timeout=clients.timeout_s
        ).values()
    clients.result(what, future, admin)
