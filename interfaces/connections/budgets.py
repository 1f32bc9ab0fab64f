"""Limits over all connections together: request memory, response memory, connection count."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Protocol

from application.ports.scheduler import Scheduler
from domain.configs.broker import BrokerConfig
from domain.configs.ip_overrides import parse_ip_overrides

NO_BOUND = 2**63 - 1
#: Open files that connections leave to the rest of the broker: HTTP, worker processes, imports at
#: first use. A fourth, where the limit is small.
RESERVED_FILES = 32


class ByteBudget:
    """Memory of large requests (queued.max.request.bytes).

    One request is always admitted, however large; the others wait in order.
    """

    def __init__(self, limit_bytes: int) -> None:
        """A negative limit means no limit."""
        self._limit_bytes = limit_bytes
        self.used_bytes = 0
        #: An OrderedDict: a dict scans all deleted entries to find its first item.
        self._waiting: OrderedDict[Callable[[], None], int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self, count: int, admitted: Callable[[], None]) -> None:
        """Calls `admitted` now, or once enough memory is released."""
        if not self._waiting and self._fits(count):
            self.used_bytes += count
            admitted()
        else:
            assert admitted not in self._waiting
            self._waiting[admitted] = count

    def give(self, count: int) -> None:
        self.used_bytes -= count
        while self._waiting:
            admitted, count = next(iter(self._waiting.items()))
            if not self._fits(count):
                return
            del self._waiting[admitted]
            self.used_bytes += count
            admitted()

    def forget(self, admitted: Callable[[], None]) -> None:
        """Removes a waiting request; its connection is closed."""
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
    """Memory of responses that clients have not read yet (queued.max.response.bytes).

    The transport does not report when a response is sent, so `used_bytes` only grows, by each
    response, until it is large enough to matter; then it is summed over all connections. That costs
    time for each connection, so it happens once a pass, or after a share of the limit has been
    added.
    """

    def __init__(
        self, limit_bytes: int, connections: Iterable[UnreadResponses], scheduler: Scheduler
    ) -> None:
        """A negative limit means no limit."""
        self._limit_bytes = limit_bytes
        self._connections = connections
        self._scheduler = scheduler
        self._counted_bytes = 0
        self._counted_in_this_pass = False
        #: Above this the broker closes the connections with the most unread bytes,
        self.most_bytes = NO_BOUND if limit_bytes < 0 else 2 * limit_bytes
        #: and runs no request until their memory is released.
        self.spent = False
        #: An upper bound of the unread bytes.
        self.used_bytes = 0

    def room(self) -> int:
        """Bytes that one more response may have; 0: only what it must have; negative: none."""
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
        """Returns True if `used_bytes` may be too high by an amount that matters."""
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
        """Returns True if more than half of the limit is in use."""
        limit = self._limit_bytes
        return 0 <= limit // 2 < self.used_bytes and self.count() > limit // 2

    def excess(self) -> int:
        """Bytes to release by closing connections, or 0."""
        unread = self.count()
        return unread - self._limit_bytes if unread > self.most_bytes else 0


class ConnectionBudget:
    """max.connections, max.connections.per.ip and the limit of open files (`ulimit -n`).

    A changed limit applies to new connections.
    """

    def __init__(self, config: BrokerConfig) -> None:
        self._config = config
        self._by_address: Counter[str] = Counter()
        self.count = 0
        #: Since the broker started.
        self.made = 0

    def refusal(self, address: str, descriptor: int = -1) -> tuple[str, str] | None:
        """Why one more connection from this address is refused: reason and detail; or None.

        `descriptor`: of its socket, the lowest that was free.
        """
        limit = self._config.max_connections
        if self.count >= limit:
            return "max_connections", f"max.connections ({limit}) is reached"
        name, limit = "max.connections.per.ip", self._config.max_connections_per_ip
        if self._config.max_connections_per_ip_overrides:
            overrides = parse_ip_overrides(self._config.max_connections_per_ip_overrides)
            if address in overrides:
                name, limit = f"{name}.overrides", overrides[address]
        if self._by_address[address] >= limit:
            detail = f"{name} ({limit}) is reached for {address}"
            return "max_connections_per_ip", detail
        limit = open_file_limit()
        reserved = min(RESERVED_FILES, limit // 4)
        if descriptor >= limit - reserved:
            return "open_files", f"the limit of open files is {limit}, {reserved} are reserved"
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


def open_file_limit() -> int:
    try:
        import resource
    except ImportError:
        return NO_BOUND
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return NO_BOUND if soft == resource.RLIM_INFINITY else soft


class LargeResponses:
    """Counts the memory of large responses that the transport sends piece by piece.

    The transport reports only unsent bytes, but a partly sent response stays in memory as a whole.
    """

    __slots__ = ("_largest_bytes", "_written_bytes")

    def __init__(self) -> None:
        #: Since the transport was last empty: all responses together, and the largest one.
        self._written_bytes = self._largest_bytes = 0

    def written(self, size_bytes: int, left_bytes: int) -> None:
        """Call before the write; `left_bytes` are unsent bytes of earlier responses."""
        if not left_bytes:
            self._written_bytes = self._largest_bytes = 0
        self._written_bytes += size_bytes
        self._largest_bytes = max(self._largest_bytes, size_bytes)

    def sent_bytes(self, left_bytes: int) -> int:
        """Upper bound of the bytes that are sent and still in memory."""
        if not left_bytes or not self._largest_bytes:
            return 0
        return min(max(self._written_bytes - left_bytes, 0), self._largest_bytes)
