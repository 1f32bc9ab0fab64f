"""Compares two responses field by field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tests.oracle.plain import identity
from tests.oracle.scenario_run import Exchange


class Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING: Any = Missing()


class Found(NamedTuple):
    """A field that differs between two responses; lists in its path are written `[]`."""

    step: str
    version: int
    field: str
    where: str
    kafka: Any
    ours: Any

    def __str__(self) -> str:
        return f"v{self.version} {self.step!r} {self.where}: {self.kafka!r}, ours {self.ours!r}"


def compare(kafka: Sequence[Exchange], ours: Sequence[Exchange], version: int) -> list[Found]:
    """The requests must be the same; otherwise the recording is outdated."""
    assert [_request(one) for one in kafka] == [_request(one) for one in ours], (
        "the recording has other requests: record again"
    )
    return [
        Found(theirs.step, version, field, where, left, right)
        for theirs, own in zip(kafka, ours, strict=True)
        for field, where, left, right in _differ("", "", theirs.response, own.response)
    ]


def _request(exchange: Exchange) -> tuple[str, str]:
    return exchange.step, json.dumps(exchange.request)


def _differ(field: str, where: str, kafka: Any, ours: Any) -> Iterator[tuple[str, str, Any, Any]]:
    if isinstance(kafka, dict) and isinstance(ours, dict):
        for name in [*kafka, *(name for name in ours if name not in kafka)]:
            dot = "." if field else ""
            yield from _differ(
                f"{field}{dot}{name}",
                f"{where}{dot}{name}",
                kafka.get(name, MISSING),
                ours.get(name, MISSING),
            )
    elif isinstance(kafka, list) and isinstance(ours, list):
        yield from _lists_differ(field, where, kafka, ours)
    elif kafka != ours or type(kafka) is not type(ours):
        yield field, where, _shown(kafka, ours), _shown(ours, kafka)


def _shown(value: Any, beside: Any) -> Any:
    """An omitted field is 0 if the other value is a number."""
    return 0 if value is MISSING and type(beside) is int else value


def _lists_differ(
    field: str, where: str, kafka: list[Any], ours: list[Any]
) -> Iterator[tuple[str, str, Any, Any]]:
    named = _are_named(kafka) and _are_named(ours)
    left, right = _by_identity(kafka, named), _by_identity(ours, named)
    common = [key for key in left if key in right]
    if common != [key for key in right if key in left]:
        yield f"{field} order", f"{where} order", list(left), list(right)
    for key in [*left, *(key for key in right if key not in left)]:
        yield from _differ(
            f"{field}[]", f"{where}[{key}]", left.get(key, MISSING), right.get(key, MISSING)
        )


def _are_named(elements: list[Any]) -> bool:
    """Returns True if all elements have distinct identities."""
    keys = {identity(element) for element in elements}
    return "" not in keys and len(keys) == len(elements)


def _by_identity(elements: list[Any], named: bool) -> dict[str, Any]:
    keys = [identity(one) if named else str(place) for place, one in enumerate(elements)]
    return dict(zip(keys, elements, strict=True))
