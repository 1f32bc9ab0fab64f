"""Budgets: what all connections together may hold, and who waits for a share of it."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Protocol

from application.ports.scheduler import Scheduler
from domain.configs.broker import BrokerConfig

NO_BOUND = 2**63 - 1


class ByteBudget:
    """Bytes of large requests. One is always let in, however large; the others wait in line."""

    def __init__(self, limit_bytes: int) -> None:
        """A negative limit is none."""
        self._limit_bytes = limit_bytes
        self.used_bytes = 0
        #: The line. Not a dict: that looks for its first item past all that have gone.
        self._waiting: OrderedDict[Callable[[], None], int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, count: int, admitted: Callable[[], None]) -> None:
        """Calls `admitted` now, or when enough was given back; it waits once at a time."""
        if not self._waiting and self._fits(count):
            self.used_bytes += count
            admitted()
        else:
            assert admitted not in self._waiting
            self._waiting[admitted] = count

    def give(self, count: int) -> None:
        self.used_bytes -= count
        while self._waiting:
            admitted, wanted = next(iter(self._waiting.items()))
            if not self._fits(wanted):
                return
            del self._waiting[admitted]
            self.used_bytes += wanted
            admitted()

    def forget(self, admitted: Callable[[], None]) -> None:
        """Who waited has gone; as many may go at once as there are connections."""
        self._waiting.pop(admitted, None)

    def _fits(self, count: int) -> bool:
        return (
            self._limit_bytes < 0
            or not self.used_bytes
            or self.used_bytes + count <= self._limit_bytes
        )


class UnreadResponses(Protocol):
    @property
    def unread_bytes(self) -> int: ...


class ResponseBudget:
    """Bytes of answers that clients have not read yet, of all connections together.

    Nobody tells when an answer has left, so `used_bytes` only grows, by every answer, until it is
    large enough to matter; then the connections are asked. That costs more the more there are, so
    it is done once in a pass, and for so many bytes of answers; not for each that wants room.
    """

    def __init__(
        self, limit_bytes: int, connections: Iterable[UnreadResponses], scheduler: Scheduler
    ) -> None:
        """A negative limit is none."""
        self._limit_bytes = limit_bytes
        self._connections = connections
        self._scheduler = scheduler
        self._counted_bytes = 0
        self._counted_in_this_pass = False
        #: Above this, somebody has to go,
        self.most_bytes = NO_BOUND if limit_bytes < 0 else 2 * limit_bytes
        #: and until they have, nobody is answered.
        self.spent = False
        #: No less than what is unread; whoever makes an answer adds to it.
        self.used_bytes = 0

    def room(self) -> int:
        """What one more answer may take; 0: only what must be, less: nothing at all."""
        limit = self._limit_bytes
        if limit < 0:
            return NO_BOUND
        used = self.used_bytes
        if used > limit // 2 and self._is_outdated(used - self._counted_bytes):
            used = self.count()
        if used > self.most_bytes or self.spent:
            return -1
        return max(limit - used, 0)

    def _is_outdated(self, grown_bytes: int) -> bool:
        """Whether what was counted may be too much by what matters."""
        limit = self._limit_bytes
        if self.used_bytes < limit:
            return grown_bytes >= limit // 8
        if self._counted_in_this_pass:
            return grown_bytes > limit // 64
        self._counted_in_this_pass = True
        self._scheduler.soon(self._next_pass)
        return True

    def _next_pass(self) -> None:
        self._counted_in_this_pass = False

    def count(self) -> int:
        self._counted_bytes = self.used_bytes = sum(one.unread_bytes for one in self._connections)
        return self._counted_bytes

    @property
    def is_scarce(self) -> bool:
        """More than half of it is really used."""
        limit = self._limit_bytes
        return 0 <= limit // 2 < self.used_bytes and self.count() > limit // 2

    def excess(self) -> int:
        """How much has to go, or 0 where all can be borne."""
        unread = self.count()
        return unread - self._limit_bytes if unread > self.most_bytes else 0


class ConnectionBudget:
    """The limits may change while the broker runs: they are for the next connection."""

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._by_address: Counter[str] = Counter()
        self.count = 0
        #: Of all that there ever were.
        self.made = 0

    def refusal(self, address: str) -> tuple[str, str] | None:
        """The reason and its detail if one more connection is not allowed."""
        limit = self._config.max_connections
        if self.count >= limit:
            return "max_connections", f"max.connections ({limit}) is reached"
        limit = self._config.max_connections_per_ip
        if self._by_address[address] >= limit:
            detail = f"max.connections.per.ip ({limit}) is reached for {address}"
            return "max_connections_per_ip", detail
        return None

    def add(self, address: str) -> None:
        self.count += 1
        self.made += 1
        self._by_address[address] += 1

    def remove(self, address: str) -> None:
        self.count -= 1
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]
