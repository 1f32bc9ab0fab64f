"""Two brokers over one store, and a base of the worlds in which leaders move between them.

A broker that loses a partition knows it at once; the next leader learns it later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from domain.cluster.nodes import Leader, Node
from infrastructure.storage.engine import Storage, StorageInfo
from tests.fakes.broker import InProcessBroker
from tests.fakes.client import LISTENER, FakeClient, FakeListener
from tests.fakes.clock import FakeClock
from tests.fakes.logs import FakeRequestLog
from tests.fakes.placement import FakePlacement
from tests.simulation.disk import Change, Disk
from tests.simulation.model import Violation
from tests.simulation.store import Fate, SimulatedStore

NODES = [Node(each, None, {LISTENER: (f"192.0.2.{each}", 9092)}) for each in (1, 2)]
#: How long a commit takes.
DELAYS_MS = (0, 0, 2, 9)
#: How much later than others its broker knows it.
LATE_MS = (*[0] * 9, 20)


class FencedFate(Fate):
    """Fails a commit that the store refuses when it is done."""

    __slots__ = ("_is_fenced",)

    def __init__(self, is_fenced: Callable[[], bool], delay_ms: int, late_ms: int) -> None:
        self.delay_ms = delay_ms
        self.late_ms = late_ms
        self.dies = False
        self._is_fenced = is_fenced

    @property
    def fails(self) -> bool:  # type: ignore[override]
        return self._is_fenced()


class BrokerOfTwo(InProcessBroker):
    """Implements `StoreControl` of its store."""

    def __init__(self, world: Any, node_id: int, **settings: str) -> None:
        self.world = world
        super().__init__(node_id=str(node_id), **settings)
        self.listener = FakeListener(self, FakeRequestLog())

    def _placement(self) -> FakePlacement:
        placement = FakePlacement(self.config.node_id)
        placement.add(NODES[self.config.node_id % 2])
        placement.move_all(self.world.truth)
        return placement

    def _clock(self) -> FakeClock:
        return self.clock

    def _storage(self, url: str, flush: str) -> Storage:
        store = SimulatedStore(self.world.disk, self.scheduler, self)
        info = StorageInfo("simulated", None, 0, "os", "a-store")
        return Storage(store, store, store, info)

    def lost_partition(self) -> None:
        """Called before it learns that another broker leads a partition."""

    def fate(self, changes: list[Change]) -> Fate:
        return FencedFate(self.fence(changes), *self._times_ms())

    def fence(self, changes: list[Change]) -> Callable[[], bool]:
        """Returns a check, for the end of the commit: whether the store refuses it."""
        raise NotImplementedError

    def _times_ms(self) -> tuple[int, int]:
        random = self.world.random
        if not self.world.truth:
            return 0, 0
        delay_ms, late_ms = random.choice(DELAYS_MS), random.choice(LATE_MS)
        self.world.happened["commits whose outcome is known late"] += bool(late_ms)
        return delay_ms, late_ms

    def called(self) -> None: ...

    def snapshot_read(self) -> None: ...

    def reads_fail(self, partition_id: int) -> bool:
        return False

    def loading_ms(self, was_in_memory: bool) -> int:
        return 0 if was_in_memory or self.world.random.random() < 0.9 else 5

    def loaded(self, partition_id: int) -> None: ...

    def persisted(self, changes: list[Change]) -> None: ...

    def failed(self, under_way: list[Change], behind: list[Change]) -> None:
        self.world.happened["commits that fail"] += 1

    def died_in_commit(self, persisted: bool) -> None: ...


class Caller:
    """A client with a connection to each broker and one request in flight."""

    #: How many records or offsets have to be done.
    goal: int

    def __init__(self, world: MovingLeaders) -> None:
        self.random = world.random
        self.lines: dict[int, FakeClient] = {
            node_id: broker.listener.client() for node_id, broker in world.brokers.items()
        }
        self._pending: FakeClient | None = None
        self.done = 0

    @property
    def is_done(self) -> bool:
        return self.done >= self.goal

    def step(self) -> None:
        if self._pending is None:
            self._send()
            return
        for response in self._pending.responses():
            self._pending = None
            self._receive(response)

    def _send(self) -> None:
        raise NotImplementedError

    def _receive(self, response: Any) -> None:
        raise NotImplementedError


class MovingLeaders:
    """Leaders of `partition_ids` move, until all callers are done."""

    #: Each step draws a number: the first of these that is above it happens, else a caller steps.
    moves_below: float
    learns_below: float
    passes_below = 0.4
    time_below: float
    times_ms: Sequence[int]
    patience_steps: int
    #: Those that move.
    partition_ids: Sequence[int]
    brokers: dict[int, Any]
    callers: Sequence[Caller]

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.disk = Disk()
        self.truth: dict[int, Leader] = {}
        self.happened: Counter[str] = Counter()
        self.seed = seed
        self.step = 0
        #: What happened.
        self.log_lines: list[str] = []
        #: Partitions and their leaders, which a broker has not learned yet.
        self._news: dict[int, list[tuple[int, Leader]]] = {1: [], 2: []}

    def run(self) -> None:
        for step in range(self.patience_steps):
            self.step = step
            if all(one.is_done for one in self.callers):
                return
            self._step()
        raise Violation(f"{[one.done for one in self.callers]} only")

    def _step(self) -> None:
        chance = self.random.random()
        node_id = self.random.choice((1, 2))
        broker, news = self.brokers[node_id], self._news[node_id]
        if chance < self.moves_below:
            self._move()
        elif chance < self.learns_below and news:
            self.log_lines.append(f"{self.step:5} {node_id} learns {news[0]}")
            broker.placement.move(*news.pop(0))
        elif chance < self.passes_below:
            broker.scheduler.run_pass()
        elif chance < self.time_below:
            broker.scheduler.advance(self.random.choice(self.times_ms))
        else:
            self.random.choice(self.callers).step()

    def _move(self) -> None:
        first, *others = self.partition_ids
        # Not drawn if there is one, so that seeds stay as they were.
        partition_id = self.random.choice(self.partition_ids) if others else first
        before = self.truth[partition_id]
        after = Leader(3 - before.node_id, before.epoch + 1)
        self.truth[partition_id] = after
        self.happened["moves"] += 1
        self.log_lines.append(f"{self.step:5} {partition_id}: {after}, after {before}")
        loser, news = self.brokers[before.node_id], self._news[before.node_id]
        loser.lost_partition()
        news[:] = [each for each in news if each[0] != partition_id]
        loser.placement.move(partition_id, after)
        self._news[after.node_id].append((partition_id, after))
