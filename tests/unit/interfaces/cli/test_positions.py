from __future__ import annotations

from typing import Any, cast

import pytest
from confluent_kafka.admin import AdminClient, ListOffsetsResultInfo, OffsetSpec

from interfaces.cli.client import Clients
from interfaces.cli.failures import UsageError
from interfaces.cli.positions import (
    END,
    MINUS,
    OFFSET,
    PLUS,
    START,
    TIME,
    Bounds,
    Position,
    bounds_of,
    position,
    range_of,
    resolved,
)

NOW_MS = 1_800_000_000_000


@pytest.mark.parametrize(
    "text, expected",
    [
        ("start", Position(START)),
        ("end", Position(END)),
        ("47", Position(OFFSET, 47)),
        ("+2", Position(PLUS, 2)),
        ("-3", Position(MINUS, 3)),
        ("@1700000000000", Position(TIME, 1_700_000_000_000)),
        ("@1700000000", Position(TIME, 1_700_000_000_000)),
        ("@2023-11-14T22:13:20Z", Position(TIME, 1_700_000_000_000)),
        ("@2023-11-14T22:13:20", Position(TIME, 1_700_000_000_000)),
        ("@2023-11-15T00:13:20+02:00", Position(TIME, 1_700_000_000_000)),
        ("@-1h", Position(TIME, NOW_MS - 3_600_000)),
    ],
)
def test_a_position_is_read(text: str, expected: Position) -> None:
    assert position(text, NOW_MS) == expected


@pytest.mark.parametrize("text", ["", "middle", "4 7", "--3", "@yesterday", "@", "1e3"])
def test_an_invalid_position_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        position(text, NOW_MS)


@pytest.mark.parametrize(
    "text, first, stop",
    [
        ("3:5", Position(OFFSET, 3), Position(OFFSET, 5)),
        (":end", Position(START), Position(END)),
        ("start", Position(START), None),
        ("@1700000000:@1700000000", *[Position(TIME, 1_700_000_000_000)] * 2),
        ("@2023-11-14T22:13:20Z", Position(TIME, 1_700_000_000_000), None),
        ("@2023-11-14T22:13:20Z:end", Position(TIME, 1_700_000_000_000), Position(END)),
        ("start:@2023-11-14T22:13:20Z", Position(START), Position(TIME, 1_700_000_000_000)),
    ],
)
def test_a_range_is_read(text: str, first: Position, stop: Position | None) -> None:
    assert range_of(text, NOW_MS) == (first, stop)


@pytest.mark.parametrize(
    "text, current, offset",
    [
        ("start", None, 10),
        ("end", None, 20),
        ("15", None, 15),
        ("3", None, 10),
        ("99", None, 20),
        ("+2", None, 12),
        ("-3", None, 17),
        ("+2", 15, 17),
        ("-3", 15, 12),
        ("-30", 15, 10),
        ("@1700000000", None, 13),
    ],
)
def test_the_offset_of_a_position_is_within_the_log(
    text: str, current: int | None, offset: int
) -> None:
    assert resolved(position(text, NOW_MS), Bounds(10, 20, 13), current) == offset
    assert resolved(Position(TIME, NOW_MS), Bounds(10, 20, None)) == 20, "a time after all records"


class Listing(Clients):
    """A broker with ten records in each partition, which responds with these leader epochs."""

    def __init__(self, *epochs: int) -> None:
        self.timeout_s = 1.0
        self._epochs = epochs

    def list_offsets(self, specs: Any, **_: object) -> dict[Any, Any]:
        latest: Any = OffsetSpec  # it has no type stubs
        is_end = next(iter(specs.values())) is latest.latest()
        return {
            place: ListOffsetsResultInfo(10 if is_end else 0, -1, self._epochs[place.partition])
            for place in specs
        }

    def result(self, _: str, future: Any, __: Any = None) -> Any:
        return future


def test_the_end_of_a_partition_comes_with_its_leader_epoch() -> None:
    broker = Listing(4, -1)
    [found] = bounds_of(broker, cast("AdminClient", broker), [("t", 0), ("t", 1)])
    assert found == {("t", 0): Bounds(0, 10, None, 4), ("t", 1): Bounds(0, 10)}
