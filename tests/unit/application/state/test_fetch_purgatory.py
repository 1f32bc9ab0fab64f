from __future__ import annotations

import pytest

from application.state.fetch_purgatory import FetchPurgatory
from domain.configs.topic import TopicConfig
from domain.partitions.partition import Partition


class Seen:
    def __init__(self) -> None:
        self.partitions: list[Partition] = []

    def advanced(self, partition: Partition) -> None:
        self.partitions.append(partition)


def partitions(count: int) -> list[Partition]:
    return [Partition(index, "t", index, TopicConfig()) for index in range(count)]


def test_watchers_are_notified_of_their_partitions() -> None:
    purgatory, (a, b) = FetchPurgatory(), partitions(2)
    first, second = Seen(), Seen()
    purgatory.watch([a, b], first)
    purgatory.watch([b], second)
    purgatory.advanced(a)
    assert (first.partitions, second.partitions) == ([a], [])
    purgatory.advanced(b)
    assert (first.partitions, second.partitions) == ([a, b], [b])
    assert purgatory.release_all() == [first, second]


def test_a_removed_watcher_is_not_notified() -> None:
    purgatory, (a, b) = FetchPurgatory(), partitions(2)
    seen = Seen()
    purgatory.watch([a, b], seen)
    assert len(purgatory) == 1
    purgatory.unwatch([a, b], seen)
    assert len(purgatory) == 0
    purgatory.advanced(a)
    assert seen.partitions == []
    assert purgatory.release_all() == []


def test_a_watcher_can_remove_itself_when_it_is_notified() -> None:
    purgatory, (a,) = FetchPurgatory(), partitions(1)

    class Unwatching(Seen):
        def advanced(self, partition: Partition) -> None:
            super().advanced(partition)
            purgatory.unwatch([a], self)

    watchers = [Unwatching(), Unwatching()]
    for one in watchers:
        purgatory.watch([a], one)
    purgatory.advanced(a)
    purgatory.advanced(a)
    assert [one.partitions for one in watchers] == [[a], [a]]


def test_a_fault_in_a_watcher_does_not_affect_others() -> None:
    purgatory, (a,) = FetchPurgatory(), partitions(1)

    class Broken(Seen):
        def advanced(self, partition: Partition) -> None:
            raise RuntimeError("a bug")

    seen = Seen()
    purgatory.watch([a], Broken())
    purgatory.watch([a], seen)
    with pytest.raises(RuntimeError, match="a bug"):
        purgatory.advanced(a)
    assert seen.partitions == [a]
