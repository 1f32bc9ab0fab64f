"""Handshakes: bounds the TLS handshakes in progress, in number and in time of the loop.

Further connections wait in turn, unread, so that clients that all reconnect are all served; those
of the addresses below their limit first. A handshake costs a signature: only one step of one
handshake runs in each pass of the loop, with requests of other connections in between.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, deque
from collections.abc import Callable

from application.ports.scheduler import Scheduler
from domain.configs.broker import BrokerConfig

Start = Callable[[], None]


class Handshakes:
    def __init__(self, config: BrokerConfig, scheduler: Scheduler) -> None:
        self.timeout_ms = config.ssl_handshake_timeout_ms
        self._limit = config.ssl_handshakes_max
        self._limit_per_ip = config.ssl_handshakes_max_per_ip
        self.scheduler = scheduler
        self._in_progress: Counter[str] = Counter()
        self.count = 0
        #: By address; each has at least one.
        self._waiting: OrderedDict[str, OrderedDict[Start, None]] = OrderedDict()
        self._steps: deque[Start] = deque()
        self._stepped = False

    @property
    def waiting(self) -> int:
        return sum(map(len, self._waiting.values()))

    def take(self, address: str, start: Start) -> None:
        """Calls `start` now or later; each has its `give`, or `forget` while it waits."""
        if self.count < self._limit and self._in_progress[address] < self._limit_per_ip:
            self._begin(address, start)
        else:
            self._waiting.setdefault(address, OrderedDict())[start] = None

    def give(self, address: str) -> None:
        self.count -= 1
        self._in_progress[address] -= 1
        if not self._in_progress[address]:
            del self._in_progress[address]
        # At most `limit / limit per address` of them have no room.
        for other, starts in self._waiting.items():
            if self._in_progress[other] < self._limit_per_ip:
                start, _ = starts.popitem(last=False)
                self._waiting.move_to_end(other)
                if not starts:
                    del self._waiting[other]
                self._begin(other, start)
                return

    def forget(self, address: str, start: Start) -> None:
        starts = self._waiting[address]
        del starts[start]
        if not starts:
            del self._waiting[address]

    def _begin(self, address: str, start: Start) -> None:
        self.count += 1
        self._in_progress[address] += 1
        start()

    def step(self, step: Start) -> bool:
        """Runs the step in this pass if it is the first, else in a later one: then False."""
        if self._stepped:
            self._steps.append(step)
            return False
        self._stepped = True
        self.scheduler.soon(self._next_pass)
        step()
        return True

    def _next_pass(self) -> None:
        if self._steps:
            self.scheduler.soon(self._next_pass)
            self._steps.popleft()()
        else:
            self._stepped = False
