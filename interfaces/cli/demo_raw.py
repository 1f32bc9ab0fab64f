"""The demo of the raw stream: a producer and a consumer with plain sockets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from interfaces.cli.demo import Print, TourFailed
from interfaces.cli.raw import CONSUMER, PRODUCER, connected, frame, records

_LINES = tuple(f"line {number}".encode() for number in range(1, 6))
_KEPT = 3


def tour(start: Callable[[], str], kill: Callable[[], None], show: Print) -> None:
    address = start()
    show(f"1. A broker with a raw listener at {address}, on an empty folder.")
    tail = records(connected(address, CONSUMER + bytes(8)))
    show("\n2. Produce: the response to each record is its offset in the stream.")
    offsets = []
    with connected(address, PRODUCER) as producer, producer.makefile("rb") as responses:
        for line in _LINES:
            producer.sendall(frame(line))
            offsets.append(responses.read(8))
            show(f"   {_text(line)} -> {int.from_bytes(offsets[-1], 'big')}")
    show("\n3. A consumer that has waited since before, from offset 0:")
    _check(list(islice(tail, len(_LINES))), _LINES, show)
    show("\n4. Kill the broker (SIGKILL), start it again on the same folder.")
    kill()
    address = start()
    start_offset = offsets[_KEPT]
    show(f"\n5. Consume from offset {int.from_bytes(start_offset, 'big')}:")
    rest = _LINES[_KEPT:]
    again = records(connected(address, CONSUMER + start_offset))
    _check(list(islice(again, len(rest))), rest, show)
    show("\nDone. To run one: ottla serve --raw localhost:12000")


def _check(consumed: list[bytes], expected: tuple[bytes, ...], show: Print) -> None:
    for record in consumed:
        show(f"   {_text(record)}")
    if consumed != list(expected):
        raise TourFailed(f"expected {len(expected)} records, consumed {len(consumed)}")


def _text(record: bytes) -> str:
    return record.decode()
