"""Runtime: persists the changes of one kind of durable state (groups, topics, configs, offsets).

    decide (domain) -> persist: `decided`, stage the rows -> the commit of this pass
      durable:  `committed`, then the waiting responses
      failed:   `lost`, then StorageFailed to all waiting responses

Two rules: no response before the commit of all changes it depends on, and no state that exists in
memory only. State that is read without waiting (topics, configs, committed offsets) changes in
`committed`, and the next decision finds changes in flight here. State that only decisions read
(groups) changes in `decided`, so that many decisions about a group share a commit; `lost` reloads.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from application.ports.pending import Pending
from application.state.notifying import notify_each
from domain.errors import BrokerError, StorageFailed

K = TypeVar("K", bound=Hashable)
C = TypeVar("C")
R = TypeVar("R")

Done = Callable[[StorageFailed | None], None]


def ignore(failure: StorageFailed | None) -> None:
    """For changes that no other callback waits for."""


def if_durable(call: Callable[[], None]) -> Done:
    """Calls back unless the changes are lost."""
    return lambda failure: call() if failure is None else None


class Aggregates(ABC, Generic[K, C]):
    """One kind of durable state. A key identifies one aggregate, a change is a fact about it.

    A kind changes its memory in `committed`, or in `decided` and `lost`.
    """

    @abstractmethod
    def stage(self, key: K, changes: Sequence[C], done: Done) -> None:
        """Stages the rows; `done` is called when they are durable, or lost."""

    def decided(self, key: K, changes: Sequence[C]) -> None:
        """A decision was made."""

    def committed(self, key: K, changes: Sequence[C]) -> None:
        """The changes are durable."""

    def lost(self, key: K, changes: Sequence[C], first: bool) -> None:
        """`first`: False if they were in flight already when earlier changes were lost."""


class _Decision(Generic[K, C]):
    """Changes in flight, and the callbacks that wait for them."""

    __slots__ = ("_runtime", "changes", "first_lost", "is_dropped", "key", "waiting")

    def __init__(self, runtime: Runtime[K, C], key: K, changes: Sequence[C], then: Done) -> None:
        self._runtime = runtime
        self.key = key
        self.changes = changes
        self.waiting = [then]
        self.first_lost = True
        self.is_dropped = False

    def done(self, failure: StorageFailed | None) -> None:
        self._runtime.done(self, failure)


class Runtime(Generic[K, C]):
    def __init__(self, aggregates: Aggregates[K, C]) -> None:
        self._aggregates = aggregates
        #: By key, oldest first.
        self._in_flight: dict[K, list[_Decision[K, C]]] = {}

    def __contains__(self, key: K) -> bool:
        """Whether changes of this aggregate are in flight."""
        return key in self._in_flight

    def in_flight(self, key: K) -> list[Sequence[C]]:
        """The changes of each decision, oldest first."""
        return [decision.changes for decision in self._in_flight.get(key, ())]

    def newest(self, key: K) -> C | None:
        """The last change that is in flight."""
        in_flight = self._in_flight.get(key)
        return in_flight[-1].changes[-1] if in_flight else None

    def keys(self) -> list[K]:
        """The aggregates with changes in flight."""
        return list(self._in_flight)

    def all_in_flight(self) -> Iterator[Sequence[C]]:
        return (one.changes for in_flight in self._in_flight.values() for one in in_flight)

    @property
    def decisions(self) -> int:
        """The number of decisions in flight."""
        return sum(map(len, self._in_flight.values()))

    def persist(self, key: K, changes: Sequence[C], then: Done) -> None:
        """`then` is called when the changes are durable, or lost."""
        self._aggregates.decided(key, changes)
        decision = _Decision(self, key, changes, then)
        in_flight = self._in_flight.get(key)
        if in_flight is None:
            self._in_flight[key] = [decision]
        else:
            in_flight.append(decision)
        self._aggregates.stage(key, changes, decision.done)

    def when_durable(self, key: K, then: Done) -> None:
        """Calls back when all changes of the aggregate in flight by now are durable, or lost."""
        in_flight = self._in_flight.get(key)
        if in_flight is None:
            then(None)
        else:
            in_flight[-1].waiting.append(then)

    def drop(self, keys: Callable[[K], bool]) -> None:
        """These aggregates are no longer in memory: decisions about them that are in flight will
        only call back.
        """
        for key in [one for one in self._in_flight if keys(one)]:
            for decision in self._in_flight.pop(key):
                decision.is_dropped = True

    def done(self, decision: _Decision[K, C], failure: StorageFailed | None) -> None:
        try:
            if not decision.is_dropped:
                self._ended(decision, failure)
        finally:  # also if the rows cannot be read
            faults = notify_each(decision.waiting, lambda then: then(failure))
        if faults:
            raise faults[0]

    def _ended(self, decision: _Decision[K, C], failure: StorageFailed | None) -> None:
        key = decision.key
        in_flight = self._in_flight[key]
        in_flight.remove(decision)
        if not in_flight:
            del self._in_flight[key]
        if failure is None:
            self._aggregates.committed(key, decision.changes)
            return
        if decision.first_lost:
            for later in in_flight:
                later.first_lost = False
        self._aggregates.lost(key, decision.changes, decision.first_lost)


#: An aggregate, by its key.
AggregateKey = tuple[Runtime[Any, Any], Any]


def respond(
    keys: Sequence[AggregateKey], results: list[R | BrokerError]
) -> list[R | BrokerError] | Pending[list[R | BrokerError]]:
    """One result per aggregate, when all their changes in flight by now are durable.

    The failure replaces results whose changes are lost.
    """
    waiting = {key for key in keys if key[1] in key[0]}
    if not waiting:
        return results
    pending: Pending[list[R | BrokerError]] = Pending()
    failures: dict[AggregateKey, StorageFailed] = {}

    def done(key: AggregateKey, failure: StorageFailed | None) -> None:
        waiting.remove(key)
        if failure is not None:
            failures[key] = failure
        if not waiting:
            paired = zip(keys, results, strict=True)
            pending.resolve([failures.get(key, result) for key, result in paired])

    for runtime, key in list(waiting):
        runtime.when_durable(key, partial(done, (runtime, key)))
    return pending
