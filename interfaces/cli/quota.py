"""`ottla quota set|list`: client quotas, which confluent-kafka does not have."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from interfaces.cli.arguments.quota import QUOTAS
from interfaces.cli.client import Clients, check_code
from interfaces.cli.failures import UsageError
from interfaces.cli.output import show_rows
from interfaces.suggestions import did_you_mean

if TYPE_CHECKING:
    from interfaces.kafka.wire.messages.alter_client_quotas import OpData

#: Columns, with Kafka's entity types.
_TYPES = {"user": "user", "client_id": "client-id", "ip": "ip"}
_VERSION = 1
_EXACTLY, _DEFAULT = 0, 1


def set_quotas(parsed: argparse.Namespace) -> int:
    from interfaces.kafka.wire.messages.alter_client_quotas import (
        AlterClientQuotasRequest,
        AlterClientQuotasResponse,
        EntityData,
        EntryData,
    )

    entity = dict(_entity(parsed))
    if not entity:
        raise UsageError("an entity is missing: --user, --client-id, --ip, or a --default of them")
    operations = list(_operations(parsed))
    if not operations:
        raise UsageError("QUOTA=VALUE is missing, or --remove QUOTA")
    entry = EntryData([EntityData(kind, name) for kind, name in entity.items()], operations)
    request = AlterClientQuotasRequest(entries=[entry])
    clients = Clients(parsed)
    with clients.wire("the quotas") as client:
        response = client.send(request, _VERSION, AlterClientQuotasResponse)
    for one in response.entries:
        check_code(_in_words(entity), one.error_code, one.error_message)
    for operation in operations:
        change = " removed" if operation.remove else f"={_number(operation.value)}"
        print(f"{_in_words(entity)}: {operation.key}{change}")
    return 0


def list_quotas(parsed: argparse.Namespace) -> int:
    from interfaces.kafka.wire.messages.describe_client_quotas import (
        ComponentData,
        DescribeClientQuotasRequest,
        DescribeClientQuotasResponse,
    )

    components = [
        ComponentData(kind, _DEFAULT if name is None else _EXACTLY, name)
        for kind, name in _entity(parsed)
    ]
    clients = Clients(parsed)
    with clients.wire("the quotas") as client:
        request = DescribeClientQuotasRequest(components=components)
        response = client.send(request, _VERSION, DescribeClientQuotasResponse)
    check_code("the quotas", response.error_code, response.error_message)
    rows = []
    for entry in response.entries or ():
        names = {one.entity_type: one.entity_name for one in entry.entity}
        row: dict[str, Any] = {
            column: "<default>" if names[kind] is None else names[kind]
            for column, kind in _TYPES.items()
            if kind in names
        }
        rows += [row | {"quota": one.key, "value": _number(one.value)} for one in entry.values]
    rows.sort(key=lambda row: [str(row.get(column, "")) for column in (*_TYPES, "quota")])
    show_rows(rows, parsed.output, (*_TYPES, "quota", "value"))
    return 0


def _entity(parsed: argparse.Namespace) -> Iterator[tuple[str, str | None]]:
    """None is the default of all others."""
    for column, kind in _TYPES.items():
        name = getattr(parsed, column)
        if name is not None or getattr(parsed, f"default_{column}"):
            yield kind, name


def _operations(parsed: argparse.Namespace) -> Iterator[OpData]:
    from interfaces.kafka.wire.messages.alter_client_quotas import OpData

    for key, text in parsed.quotas:
        if key not in QUOTAS:
            raise UsageError(f"unknown quota {key}{did_you_mean(key, QUOTAS)}")
        try:
            yield OpData(key, float(text))
        except ValueError:
            raise UsageError(f"{key}: {text!r} is not a number") from None
    for key in parsed.remove:
        yield OpData(key, 0.0, True)


def _number(value: float) -> int | float:
    return int(value) if value.is_integer() else value


def _in_words(entity: dict[str, str | None]) -> str:
    return ", ".join(
        f"{kind} {'<default>' if name is None else name}" for kind, name in entity.items()
    )
