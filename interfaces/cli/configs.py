"""`ottla topic config get|set|unset` and `ottla broker config get|set|unset`."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from domain.configs.resource import ResourceKind
from interfaces.cli import effects
from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.output import show_rows
from interfaces.suggestions import did_you_mean

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

TOPIC, BROKER = "topic", "broker"
#: The values of ConfigSource that are set for a resource.
_SET = {TOPIC: (1,), BROKER: (2, 3)}
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
    kind: str = parsed.kind
    name = parsed.name or str(clients.broker_id(admin))
    found = configs_of(clients, admin, name, kind)
    _refuse_unknown(parsed.keys, found, kind)
    rows = [
        one
        for one in found
        if (not parsed.keys or one["name"] in parsed.keys) and (one["set"] or not parsed.set_only)
    ]
    columns = ["name", "value", "source"]
    if kind == TOPIC:
        columns.append("effect")
        of_ottla = effects.is_ottla(clients, admin)
        rows = [
            one | {"effect": effects.effect(one["name"]) if of_ottla else "yes"} for one in rows
        ]
    show_rows(rows, parsed.output, columns)
    return 0


def configs_of(
    clients: Clients, admin: AdminClient, name: str, kind: str = TOPIC
) -> list[dict[str, Any]]:
    from confluent_kafka.admin import ConfigResource

    resource = ConfigResource(ConfigResource.Type[kind.upper()], name)
    what = f"the configs of {kind} {name}"
    with clients.requesting(what, admin):
        [future] = admin.describe_configs([resource], request_timeout=clients.timeout_s).values()
    entries = clients.result(what, future, admin)
    return [
        {
            "name": name,
            "value": None if entry.is_sensitive else entry.value,
            "source": _SOURCES.get(int(entry.source), str(entry.source)),
            "set": int(entry.source) in _SET[kind],
        }
        for name, entry in sorted(entries.items())
    ]


def put(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    configs = dict(parsed.values)
    for name in _names(parsed, clients, admin):
        _alter(clients, admin, parsed, name, configs)
        for key, value in parsed.values:
            print(f"{_shown(parsed, name)}: {key}={value}{_only(parsed)}")
    effects.warn(clients, admin, configs, parsed.kind)
    return 0


def unset(parsed: argparse.Namespace) -> int:
    clients = Clients(parsed)
    admin = clients.admin()
    for name in _names(parsed, clients, admin):
        # A broker takes the deletion of an unknown config as done.
        found = configs_of(clients, admin, name, parsed.kind)
        _refuse_unknown(parsed.keys, found, parsed.kind)
        _alter(clients, admin, parsed, name, dict.fromkeys(parsed.keys))
        for key in parsed.keys:
            print(f"{_shown(parsed, name)}: {key} unset{_only(parsed)}")
    return 0


def _names(parsed: argparse.Namespace, clients: Clients, admin: AdminClient) -> list[str]:
    """The topic, the broker, or all brokers: librdkafka refuses the name of their default."""
    if parsed.name is not None:
        return [parsed.name]
    return [str(broker) for broker in sorted(clients.metadata(admin).brokers)]


def _shown(parsed: argparse.Namespace, name: str) -> str:
    return name if parsed.kind == TOPIC else f"{parsed.kind} {name}"


def _refuse_unknown(names: list[str], found: list[dict[str, Any]], kind: str) -> None:
    unknown = sorted(set(names) - {one["name"] for one in found})
    if unknown:
        raise CommandFailed(f"unknown {kind} config {', '.join(unknown)}")


def _only(parsed: argparse.Namespace) -> str:
    return " (dry run)" if parsed.dry_run else ""


def _alter(
    clients: Clients,
    admin: AdminClient,
    parsed: argparse.Namespace,
    name: str,
    changes: Mapping[str, str | None],
) -> None:
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource

    entries = [
        ConfigEntry(
            key,
            value if value is not None else "",
            incremental_operation=(
                AlterConfigOpType.DELETE if value is None else AlterConfigOpType.SET
            ),
        )
        for key, value in changes.items()
    ]
    kind = ConfigResource.Type[parsed.kind.upper()]
    resource = ConfigResource(kind, name, incremental_configs=entries)
    what = f"{parsed.kind} {name}"
    with clients.requesting(what, admin):
        [future] = admin.incremental_alter_configs(
            [resource], validate_only=parsed.dry_run, request_timeout=clients.timeout_s
        ).values()
    try:
        clients.result(what, future, admin)
    except CommandFailed as refusal:
        raise CommandFailed(with_hint(refusal, changes, parsed.kind)) from None


def with_hint(refusal: CommandFailed, configs: Iterable[str], kind: str = TOPIC) -> str:
    """With the names that the user probably meant, by the tables of this version."""
    from domain.configs.effects import TABLES

    table = TABLES[ResourceKind(kind)]
    unknown = [one for one in configs if one not in table and one in str(refusal)]
    return str(refusal) + "".join(did_you_mean(one, table, 0.8) for one in unknown)
