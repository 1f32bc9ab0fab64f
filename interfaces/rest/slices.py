"""Long lists in slices: the loop that answers them has other work."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from time import perf_counter_ns
from typing import TypeVar

import orjson

T = TypeVar("T")

#: The loop has other work after so long.
SLICE_NS = 500_000
#: So many elements are made before the time is looked at.
ELEMENTS = 16


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


async def encoded(elements: Iterable[object]) -> bytes:
    """A JSON array of what a generator makes, with breaks."""
    pieces: list[bytes] = []
    bunch: list[object] = []
    started_ns = perf_counter_ns()
    for element in elements:
        bunch.append(element)
        if len(bunch) == ELEMENTS:
            pieces.append(orjson.dumps(bunch)[1:-1])
            bunch.clear()
            if perf_counter_ns() - started_ns > SLICE_NS:
                await asyncio.sleep(0)
                started_ns = perf_counter_ns()
    if bunch:
        pieces.append(orjson.dumps(bunch)[1:-1])
    return b"[%b]" % b",".join(pieces)
