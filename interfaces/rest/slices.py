"""Long lists and long work of coroutines, in slices of the background runner."""

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

#: Encoded in one call.
ELEMENTS = 16
#: A larger write would take longer than a slice.
PIECE_BYTES = 64 * 1024


class Turns:
    """Pauses a coroutine, which is no background job, after each slice of time."""

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
    """The elements of a generator, made in slices."""
    return await _sliced(admin, _all_of(elements))


def _all_of(elements: Iterable[T]) -> Job[list[T]]:
    made = []
    for element in elements:
        made.append(element)
        yield SLICE
    return made


async def encoded(admin: Admin, elements: Iterable[object]) -> AsyncIterator[bytes]:
    """A JSON array of the elements of a generator, made in slices, as pieces."""
    left = iter(elements)
    opening = b"["
    while piece := await _sliced(admin, _piece(left)):
        yield opening + piece
        opening = b","
    yield b"]" if opening == b"," else b"[]"


def _piece(left: Iterator[object]) -> Job[bytes]:
    encoded: list[bytes] = []
    size_bytes = 0
    while size_bytes < PIECE_BYTES and (some := list(islice(left, ELEMENTS))):
        encoded.append(orjson.dumps(some)[1:-1])
        size_bytes += len(encoded[-1])
        yield SLICE
    return b",".join(encoded)
