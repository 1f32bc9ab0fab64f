"""Long lists in slices: the loop that answers them has other work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from time import perf_counter_ns
from typing import TypeVar

import orjson

T = TypeVar("T")

#: The loop has other work after so long.
SLICE_NS = 500_000
#: So many elements are made before the time is looked at.
ELEMENTS = 16
#: What is handed on at once; more is in one write what a slice is in time.
PIECE_BYTES = 64 * 1024


class Turns:
    """Long work that lets others go on whenever it has taken long enough."""

    __slots__ = ("_since_ns",)

    def __init__(self) -> None:
        self._since_ns = perf_counter_ns()

    async def give(self) -> None:
        if perf_counter_ns() - self._since_ns > SLICE_NS:
            await asyncio.sleep(0)
            self._since_ns = perf_counter_ns()


async def all_of(elements: Iterable[T]) -> list[T]:
    """What a generator makes, with breaks."""
    made: list[T] = []
    started_ns = perf_counter_ns()
    for element in elements:
        made.append(element)
        if not len(made) % ELEMENTS and perf_counter_ns() - started_ns > SLICE_NS:
            await asyncio.sleep(0)
            started_ns = perf_counter_ns()
    return made


async def encoded(elements: Iterable[object]) -> AsyncIterator[bytes]:
    """A JSON array of what a generator makes, piece by piece and with breaks."""
    pieces: list[bytes] = []
    size_bytes = 0
    separator = b"["
    bunch: list[object] = []
    started_ns = perf_counter_ns()
    for element in elements:
        bunch.append(element)
        if len(bunch) < ELEMENTS:
            continue
        pieces += (separator, orjson.dumps(bunch)[1:-1])
        separator = b","
        size_bytes += len(pieces[-1])
        bunch.clear()
        if size_bytes > PIECE_BYTES:
            yield b"".join(pieces)
            pieces.clear()
            size_bytes = 0
        if perf_counter_ns() - started_ns > SLICE_NS:
            await asyncio.sleep(0)
            started_ns = perf_counter_ns()
    if bunch or separator == b"[":
        pieces += (separator, orjson.dumps(bunch)[1:-1])
    yield b"".join([*pieces, b"]"])
