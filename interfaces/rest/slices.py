"""Long lists and long work of coroutines, in turn with all other work in slices."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from itertools import islice
from time import perf_counter_ns
from typing import TypeVar

import orjson

from application.background.job import SLICE, Job
from application.background.runner import SLICE_NS
from interfaces.rest.admin import Admin
from interfaces.rest.pending import value_of

T = TypeVar("T")

#: Encoded together.
ELEMENTS = 16
#: What is handed on at once; more is in one write what a slice is in time.
PIECE_BYTES = 64 * 1024


class Turns:
    """For a coroutine, which is no job: it lets others go on when it has taken long enough."""

    __slots__ = ("_background", "_since_ns")

    def __init__(self, admin: Admin) -> None:
        self._background = admin.broker.background
        self._since_ns = perf_counter_ns()

    async def give(self) -> None:
        if perf_counter_ns() - self._since_ns > SLICE_NS:
            await value_of(self._background.run_later(_turn()))
            self._since_ns = perf_counter_ns()


def _turn() -> Job[None]:
    yield SLICE


async def _sliced(admin: Admin, job: Job[T]) -> T:
    return await value_of(admin.broker.background.run(job, ends_when_abandoned=True))


async def all_of(admin: Admin, elements: Iterable[T]) -> list[T]:
    """What a generator makes, in slices."""
    return await _sliced(admin, _all_of(elements))


def _all_of(elements: Iterable[T]) -> Job[list[T]]:
    made = []
    for element in elements:
        made.append(element)
        yield SLICE
    return made


async def encoded(admin: Admin, elements: Iterable[object]) -> AsyncIterator[bytes]:
    """A JSON array of what a generator makes, in slices and in pieces."""
    left = iter(elements)
    begun = b"["
    while piece := await _sliced(admin, _piece(left)):
        yield begun + piece
        begun = b","
    yield b"]" if begun == b"," else b"[]"


def _piece(left: Iterator[object]) -> Job[bytes]:
    encoded: list[bytes] = []
    size_bytes = 0
    while size_bytes < PIECE_BYTES and (some := list(islice(left, ELEMENTS))):
        encoded.append(orjson.dumps(some)[1:-1])
        size_bytes += len(encoded[-1])
        yield SLICE
    return b",".join(encoded)
