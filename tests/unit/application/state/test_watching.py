from __future__ import annotations

import pytest

from application.state.watching import Watching
from domain.configs.topic import TopicConfig
from domain.partitions.partition import Partition


class Seen:
    def __init__(self) -> None:
        self.partitions: list[Partition] = []

    def advanced(self, partition: Partition) -> None:
        self.partitions.append(partition)


def partitions(count: int) -> list[Partition]:
    return [Partition(index, "t", index, TopicConfig()) for index in range(count)]


def test_who_watches_a_partition_hears_of_it_and_nobody_else_does() -> None:
    watching, (a, b) = Watching(), partitions(2)
    first, second = Seen(), Seen()
    watching.watch([a, b], first)
    watching.watch([b], second)
    watching.advanced(a)
    assert (first.partitions, second.partitions) == ([a], [])
    watching.advanced(b)
    assert (first.partitions, second.partitions) == ([a, b], [b])


def test_who_stopped_watching_hears_nothing() -> None:
    watching, (a, b) = Watching(), partitions(2)
    seen = Seen()
    watching.watch([a, b], seen)
    assert len(watching) == 1
    watching.unwatch([a, b], seen)
    assert len(watching) == 0
    watching.advanced(a)
    assert seen.partitions == []
    assert watching.release_all() == []


def test_a_watcher_may_stop_while_it_is_told() -> None:
    watching, (a,) = Watching(), partitions(1)

    class Leaving(Seen):
        def advanced(self, partition: Partition) -> None:
            super().advanced(partition)
            watching.unwatch([a], self)

    watchers = [Leaving(), Leaving()]
    for one in watchers:
        watching.watch([a], one)
    watching.advanced(a)
    watching.advanced(a)
    assert [one.partitions for one in watchers] == [[a], [a]]


def test_a_watcher_that_fails_keeps_nobody_else_from_hearing() -> None:
    watching, (a,) = Watching(), partitions(1)

    class Broken(Seen):
        def advanced(self, partition: Partition) -> None:
            raise RuntimeError("nobody foresaw this")

    seen = Seen()
    watching.watch([a], Broken())
    watching.watch([a], seen)
    with pytest.raises(RuntimeError, match="nobody foresaw this"):
        watching.advanced(a)
    assert seen.partitions == [a]


def test_everybody_who_waits_is_found_once() -> None:
    watching, (a, b) = Watching(), partitions(2)
    first, second = Seen(), Seen()
    watching.watch([a, b], first)
    watching.watch([b], second)
    assert watching.release_all() == [first, second]
