"""Samples of the history as JSON. null: unknown, or there was no such request or commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from typing_extensions import TypedDict


class Sample(TypedDict):
    #: The end of the interval, in milliseconds since 1970.
    at_ms: int


class BrokerSample(Sample):
    messages_in_per_sec: float
    requests_per_sec: float
    errors_per_sec: float
    #: Of requests and responses, on the network.
    bytes_in_per_sec: float
    bytes_out_per_sec: float
    produce_p50_us: float | None
    produce_p99_us: float | None
    commit_p50_us: float | None
    commit_p99_us: float | None
    connections: int
    store_used_bytes: int | None
    disk_free_bytes: int | None


class TopicSample(Sample):
    messages_in_per_sec: float
    #: Of record batches.
    bytes_in_per_sec: float
    bytes_out_per_sec: float


class GroupSample(Sample):
    lag: int | None


def sample_bodies(
    shape: type[Sample], rows: Iterator[tuple[float, ...]]
) -> Iterator[dict[str, Any]]:
    """The values are in the order of the shape's fields."""
    for row in rows:
        yield dict(zip(shape.__annotations__, map(_number, row), strict=True))


def _number(value: float) -> float | None:
    """Rates with three decimals are precise enough."""
    if value != value:
        return None
    return int(value) if value.is_integer() else round(value, 3)
