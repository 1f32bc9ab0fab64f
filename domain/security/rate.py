"""Rates with a bound, and how long a client that exceeds one is throttled, as Kafka counts.

WindowedRate is Kafka's Rate over samples (Rate.java, SampledStat.java): a rate over the last
`samples` windows, of which the newest is incomplete. TokenBucket is that of KIP-599.
"""

from __future__ import annotations

from array import array
from math import floor
from typing import NamedTuple


class RateWindows(NamedTuple):
    """quota.window.num and quota.window.size.seconds."""

    samples: int
    window_ms: int


class WindowedRate:
    """Three numbers for each window, in arrays: there is one for each client."""

    __slots__ = ("_current", "_last_events_ms", "_starts_ms", "_values", "_windows", "bound")

    def __init__(self, windows: RateWindows, bound: float, now_ms: int) -> None:
        """`bound`: per second."""
        self._windows = windows
        self.bound = bound
        self._starts_ms = array("q", (now_ms,))
        self._last_events_ms = array("q", (now_ms,))
        self._values = array("d", (0,))
        self._current = 0

    def record(self, value: float, now_ms: int) -> None:
        if now_ms - self._starts_ms[self._current] >= self._windows.window_ms:
            self._advance(now_ms)
        self._values[self._current] += value
        self._last_events_ms[self._current] = now_ms

    def throttle_ms(self, now_ms: int) -> int:
        """How long the rate takes to fall to its bound, if nothing more is recorded."""
        elapsed_ms = self._elapsed_ms(now_ms)
        rate = sum(self._values) * 1000 / elapsed_ms
        if rate <= self.bound:
            return 0
        return _rounded((rate - self.bound) / self.bound * elapsed_ms)

    def rate(self, now_ms: int) -> float:
        """Per second."""
        elapsed_ms = self._elapsed_ms(now_ms)
        return sum(self._values) * 1000 / elapsed_ms

    @property
    def most_in_windows(self) -> float:
        """What all complete windows together may have."""
        return self.bound * (self._windows.samples - 1) * self._windows.window_ms / 1000

    def _advance(self, now_ms: int) -> None:
        # One more than are counted, so that the oldest one counts until it is complete.
        self._current = (self._current + 1) % (self._windows.samples + 1)
        if self._current < len(self._values):
            self._reset(self._current, now_ms)
        else:
            self._starts_ms.append(now_ms)
            self._last_events_ms.append(now_ms)
            self._values.append(0)

    def _reset(self, index: int, now_ms: int) -> None:
        self._starts_ms[index] = self._last_events_ms[index] = now_ms
        self._values[index] = 0

    def _elapsed_ms(self, now_ms: int) -> int:
        """The time that the samples cover, at least all windows but one."""
        samples, window_ms = self._windows
        expired_ms = now_ms - samples * window_ms
        if min(self._last_events_ms) <= expired_ms:
            for index, last_event_ms in enumerate(self._last_events_ms):
                if last_event_ms <= expired_ms:
                    self._reset(index, now_ms)
        elapsed_ms = now_ms - min(self._starts_ms)
        missing = samples - 1 - elapsed_ms // window_ms
        if missing > 0:
            elapsed_ms += missing * window_ms
        return max(elapsed_ms, 1)


class TokenBucket:
    """Accepts a burst of all windows, then `bound` per second."""

    __slots__ = ("_tokens", "_updated_ms", "_windows", "bound")

    def __init__(self, windows: RateWindows, bound: float, now_ms: int) -> None:
        self._windows = windows
        self.bound = bound
        self._updated_ms = now_ms
        self._tokens = self._burst

    def record(self, value: float, now_ms: int) -> None:
        self._refill(now_ms)
        self._tokens = min(self._burst, self._tokens - value)

    def throttle_ms(self, now_ms: int) -> int:
        """How long until no more tokens are owed."""
        self._refill(now_ms)
        return _rounded(-self._tokens / self.bound * 1000) if self._tokens < 0 else 0

    def rate(self, now_ms: int) -> float:
        """The tokens that are left."""
        self._refill(now_ms)
        return self._tokens

    @property
    def _burst(self) -> float:
        return self._windows.samples * self._windows.window_ms / 1000 * self.bound

    def _refill(self, now_ms: int) -> None:
        grown = self.bound * (now_ms - self._updated_ms) / 1000
        self._tokens = min(self._burst, self._tokens + grown)
        self._updated_ms = now_ms


def _rounded(value: float) -> int:
    """Java's Math.round; a throttle time is an int."""
    return min(floor(value + 0.5), 2**31 - 1)
