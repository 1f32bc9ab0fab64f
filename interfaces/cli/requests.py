"""`ottla requests`: the newest requests of Kafka clients, from the REST side of an Ottla broker."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from interfaces.cli.client import Clients
from interfaces.cli.kafka_tables import Column, laid_out
from interfaces.cli.output import check_stdout
from interfaces.cli.rest import Row, rest_of

_EVERY_S = 0.5
#: Of a page; a client that sends more requests in half a second is seen in part.
_PAGE = 1000
_COLUMNS = (
    Column("TIME", 29),
    Column("CLIENT-ID", 20),
    Column("CONNECTION", 10),
    Column("CORRELATION", 11),
    Column("API", 20),
    Column("MS", 9),
    Column("THROTTLE-MS", 11),
    Column("TOPIC-OR-GROUP", 20),
    Column("ERRORS", 0),
)


def requests(parsed: argparse.Namespace) -> int:
    admin = rest_of(parsed, Clients(parsed))
    query = {
        "correlation_id": parsed.correlation_id,
        "client_id": parsed.client_id,
        "api": parsed.api,
        "errors": "true" if parsed.errors else None,
        "slow_ms": None if parsed.slower is None else int(parsed.slower * 1000),
        "limit": max(parsed.number, _PAGE) if parsed.follow else parsed.number,
    }
    path = f"/requestz?{urlencode({name: v for name, v in query.items() if v is not None})}"
    found = admin.get(path, "data")
    if parsed.output == "table":
        print(laid_out(_COLUMNS, []).rstrip())
    _print(reversed(found[: parsed.number]), parsed.output)
    while parsed.follow:
        time.sleep(_EVERY_S)
        seen = set(map(_identity, found))
        found = admin.get(path, "data")
        _print((one for one in reversed(found) if _identity(one) not in seen), parsed.output)
        check_stdout()
    return 0


def _identity(one: Row) -> tuple[Any, ...]:
    return one["connection_id"], one["correlation_id"], one["time"], one["api"]


def _print(found: Iterable[Row], form: str) -> None:
    for one in found:
        if form == "json":
            print(json.dumps(one, ensure_ascii=False))
        else:
            print(laid_out(_COLUMNS, [_cells(one)]).splitlines()[1].rstrip())
    print(end="", flush=True)


def _cells(one: Row) -> Row:
    values = (
        one["time"],
        one["client_id"],
        one["connection_id"],
        one["correlation_id"],
        one["api"],
        f"{one['total_us'] / 1000:.3f}",
        one.get("throttle_ms", 0),
        one.get("topic") or one.get("group"),
        one["errors"],
    )
    return dict(zip((column.head for column in _COLUMNS), values, strict=True))
