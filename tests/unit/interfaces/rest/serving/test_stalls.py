"""By hand: when somebody is disconnected, and who is only slow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from interfaces.rest.serving.stalls import LOOKS, STALL_S, CountingTransport, StallWatch


class Loop:
    def __init__(self) -> None:
        self.timers: list[Any] = []

    def call_later(self, delay_s: float, call: Callable[[], None]) -> Any:
        assert delay_s == pytest.approx(STALL_S / LOOKS)
        timer = Timer(call)
        self.timers.append(timer)
        return timer

    def look(self) -> None:
        timers, self.timers = self.timers, []
        for timer in timers:
            if not timer.cancelled:
                timer.call()


class Timer:
    def __init__(self, call: Callable[[], None]) -> None:
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Transport:
    def __init__(self) -> None:
        self.waiting = 0
        self.aborted = False

    def write(self, data: bytes) -> None:
        self.waiting += len(data)

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def abort(self) -> None:
        self.aborted = True


class Watched:
    def __init__(self) -> None:
        self.loop = Loop()
        self.below = Transport()
        self.transport = CountingTransport(self.below)  # type: ignore[arg-type]
        self.told: list[float] = []
        self.watch = StallWatch(self.loop, self.transport, self.told.append)  # type: ignore[arg-type]

    def look(self, times: int) -> None:
        for _ in range(times):
            self.loop.look()

    @property
    def is_cut(self) -> bool:
        assert self.below.aborted == (self.told == [STALL_S])
        return self.below.aborted


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_who_takes_nothing_is_cut(watched: Watched) -> None:
    watched.transport.write(b"x" * 100)
    watched.look(LOOKS - 1)
    assert not watched.is_cut
    watched.look(2)
    assert watched.is_cut
    assert watched.loop.timers == []


def test_who_takes_a_little_now_and_then_stays(watched: Watched) -> None:
    watched.transport.write(b"x" * 100)
    for _ in range(10):
        watched.look(LOOKS - 1)
        watched.below.waiting -= 1
    assert not watched.is_cut


def test_whoever_writes_more_to_it_makes_it_no_better(watched: Watched) -> None:
    for _ in range(LOOKS + 1):
        watched.transport.write(b"x")
        watched.look(1)
    assert watched.is_cut


def test_where_nothing_waits_nobody_stalls(watched: Watched) -> None:
    watched.look(10 * LOOKS)
    assert not watched.is_cut
    watched.transport.write(b"x")
    watched.look(LOOKS - 1)
    assert not watched.is_cut


def test_a_connection_that_has_ended_is_watched_no_more(watched: Watched) -> None:
    watched.transport.write(b"x")
    watched.watch.stop()
    watched.look(2 * LOOKS)
    assert not watched.is_cut
