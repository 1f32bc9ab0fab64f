"""Budgets: what all connections together may hold, and who waits for a share of it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable


class ByteBudget:
    """Bytes of large requests. One is always let in, however large; the others wait in line."""

    def __init__(self, limit_bytes: int) -> None:
        """A negative limit is none."""
        self._limit_bytes = limit_bytes
        self.used_bytes = 0
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, count: int, admitted: Callable[[], None]) -> None:
        """Calls `admitted` now, or when enough was given back."""
        if not self._waiting and self._fits(count):
            self.used_bytes += count
            admitted()
        else:
            self._waiting.append((count, admitted))

    def give(self, count: int) -> None:
        self.used_bytes -= count
        while self._waiting and self._fits(self._waiting[0][0]):
            wanted, admitted = self._waiting.popleft()
            self.used_bytes += wanted
            admitted()

    def forget(self, admitted: Callable[[], None]) -> None:
        """Who waited has gone."""
        self._waiting = deque(one for one in self._waiting if one[1] != admitted)

    def _fits(self, count: int) -> bool:
        return (
            self._limit_bytes < 0
            or not self.used_bytes
            or self.used_bytes + count <= self._limit_bytes
        )


class ConnectionBudget:
    def __init__(self, limit: int, limit_per_address: int) -> None:
        self._limit = limit
        self._limit_per_address = limit_per_address
        self._by_address: Counter[str] = Counter()
        self.count = 0

    def refusal(self, address: str) -> str | None:
        """Why one more connection may not be, or None."""
        if self.count >= self._limit:
            return f"max.connections ({self._limit}) is reached"
        if self._by_address[address] >= self._limit_per_address:
            return f"max.connections.per.ip ({self._limit_per_address}) is reached for {address}"
        return None

    def add(self, address: str) -> None:
        self.count += 1
        self._by_address[address] += 1

    def remove(self, address: str) -> None:
        self.count -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]
