"""Which replicas partitions should have: evenly on living brokers, or away from one of them.

A plan has the new replicas of those partitions that change, the preferred leader first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

#: Topic and partition.
Place = tuple[str, int]
Replicas = tuple[int, ...]
Plan = dict[Place, Replicas]
#: In their order.
_Places = dict[Place, None]
#: Instead of the name of a topic.
_ALL = ""
#: Of a topic, or of all: the partitions of a broker.
_Share = tuple[str, int]


class Placed(NamedTuple):
    #: The preferred leader first.
    replicas: Replicas
    #: -1: none.
    leader: int


def drained(placed: Mapping[Place, Placed], node_id: int, alive: Collection[int]) -> Plan:
    """Living replicas become the preferred leaders instead of the broker, which stays a replica
    where there is another one. `alive` has another broker; each takes about as many.
    """
    spread = _Spread(placed, {each for each in alive if each != node_id})
    for place, one in placed.items():
        if node_id in (one.leader, *one.replicas[:1]):
            spread.step_back(place, node_id)
    return spread.plan()


def removed(placed: Mapping[Place, Placed], node_id: int, alive: Collection[int]) -> Plan:
    """The broker is no replica any more; if a partition is on all brokers it has one less."""
    spread = _Spread(placed, {each for each in alive if each != node_id})
    for place, one in placed.items():
        if node_id in one.replicas:
            spread.replace(place, {node_id})
    return spread.plan()


def balanced(placed: Mapping[Place, Placed], alive: Collection[int]) -> Plan:
    """Each topic is even, and so are all together. Replicas of brokers that are not alive move,
    too, where another broker can have them.
    """
    spread = _Spread(placed, alive)
    for place, one in placed.items():
        gone = {each for each in one.replicas if each not in alive}
        if gone:
            spread.replace(place, gone)
            spread.add(place, [each for each in one.replicas if each in gone])
    spread.even_replicas()
    spread.even_preferred()
    return spread.plan()


class _Shares:
    """What each living broker has, of each topic and of all."""

    def __init__(self, topics: Iterable[str], alive: Iterable[int]) -> None:
        brokers = sorted(alive)
        self.of: dict[str, dict[int, _Places]] = {
            topic: {each: {} for each in brokers} for topic in (*topics, _ALL)
        }

    def add(self, broker: int, place: Place) -> None:
        for topic in (place[0], _ALL):
            if broker in self.of[topic]:
                self.of[topic][broker][place] = None

    def remove(self, broker: int, place: Place) -> None:
        for topic in (place[0], _ALL):
            if broker in self.of[topic]:
                self.of[topic][broker].pop(place, None)

    def size(self, broker: int, topic: str) -> tuple[int, int]:
        return len(self.of[topic][broker]), len(self.of[_ALL][broker])

    def has_more(self, broker: int, than: int, topic: str, by: int = 1) -> bool:
        return len(self.of[topic][broker]) - len(self.of[topic][than]) >= by

    def uneven(self, topic: str) -> Iterator[tuple[int, int]]:
        """Brokers with too many and too few, the farthest apart first."""
        ordered = sorted(self.of[topic], key=lambda each: (self.size(each, topic), each))
        for less in ordered:
            for more in reversed(ordered):
                if not self.has_more(more, less, topic, by=2):
                    break
                yield more, less


class _Spread:
    def __init__(self, placed: Mapping[Place, Placed], alive: Collection[int]) -> None:
        self._before = {place: one.replicas for place, one in placed.items()}
        self._replicas = {place: list(one.replicas) for place, one in placed.items()}
        topics = dict.fromkeys(name for name, _ in placed)
        self._alive = sorted(alive)
        self._on = _Shares(topics, alive)
        self._preferred = _Shares(topics, alive)
        for place in self._replicas:
            self._count(place)

    def plan(self) -> Plan:
        return {
            place: tuple(found)
            for place, found in self._replicas.items()
            if tuple(found) != self._before[place]
        }

    def _count(self, place: Place) -> None:
        for position, each in enumerate(self._replicas[place]):
            self._on.add(each, place)
            if position == 0:
                self._preferred.add(each, place)

    def _set(self, place: Place, replicas: list[int]) -> None:
        for each in self._replicas[place]:
            self._on.remove(each, place)
            self._preferred.remove(each, place)
        self._replicas[place] = replicas
        self._count(place)

    def replace(self, place: Place, gone: Collection[int]) -> None:
        """By the living brokers that have the least; those that have none to replace them end."""
        before = self._replicas[place]
        free = [each for each in self._alive if each not in before]
        after: list[int] = []
        for each in before:
            if each not in gone:
                after.append(each)
            elif free:
                least = self._least(free, place[0], self._on if after else self._preferred)
                free.remove(least)
                after.append(least)
        self._set(place, after)

    def step_back(self, place: Place, broker: int) -> None:
        """Another living replica becomes the preferred leader, the broker the last replica."""
        before = self._replicas[place]
        living = [each for each in before if each in self._alive]
        if not living:
            self.replace(place, {broker})
        elif before[0] not in living:
            first = self._least(living, place[0], self._preferred)
            others = [each for each in before if each not in (first, broker)]
            self._set(place, [first, *others, *([broker] if broker in before else [])])

    def _least(self, brokers: Iterable[int], topic: str, of: _Shares) -> int:
        return min(brokers, key=lambda each: (of.size(each, topic), self._on.size(each, _ALL)))

    def add(self, place: Place, replicas: list[int]) -> None:
        """At the end, up to the number of before."""
        found = self._replicas[place]
        self._set(place, found + replicas[: len(self._before[place]) - len(found)])

    def even_replicas(self) -> None:
        """Each topic, then all: what moves then leaves its topic even."""
        for topic in self._on.of:
            while any(self._move(*pair, topic) for pair in self._on.uneven(topic)):
                pass

    def _move(self, more: int, less: int, topic: str) -> bool:
        """One replica; that of a preferred leader if `more` has too many of these, too."""
        movable = [
            each
            for each in self._on.of[topic][more]
            if less not in self._replicas[each] and self._on.has_more(more, less, each[0])
        ]
        if not movable:
            return False
        leads = self._preferred.has_more(more, less, topic, by=2)
        preferred = self._preferred.of[topic][more]
        place = next((each for each in movable if (each in preferred) == leads), movable[0])
        self._set(place, [less if each == more else each for each in self._replicas[place]])
        return True

    def even_preferred(self) -> None:
        """The same for preferred leaders, among the replicas that partitions have; perhaps over
        other brokers, which pass one on.
        """
        for topic in self._preferred.of:
            while any(self._pass_on(*pair, topic) for pair in self._preferred.uneven(topic)):
                pass

    def _pass_on(self, more: int, less: int, topic: str) -> bool:
        direct = (
            each
            for each in self._preferred.of[topic][more]
            if less in self._replicas[each] and self._preferred.has_more(more, less, each[0])
        )
        first = next(direct, None)  # searching all takes time
        path = [(first, less)] if first else self._path((topic, more), (topic, less))
        for place, leader in path:
            others = [each for each in self._replicas[place] if each != leader]
            self._set(place, [leader, *others])
        return bool(path)

    def _path(self, more: _Share, less: _Share) -> list[tuple[Place, int]]:
        """Partitions with their new leaders, the shortest way; empty: there is none."""
        #: How each is reached: the partition is none between a topic's share and that of all.
        reached: dict[_Share, tuple[_Share, Place | None]] = {more: (more, None)}
        waiting = [more]
        for share in waiting:
            for after, place in self._next(share, within=more[0]):
                if after not in reached:
                    reached[after] = share, place
                    waiting.append(after)
            if less in reached:
                break
        path: list[tuple[Place, int]] = []
        while less != more and less in reached:
            before, place = reached[less]
            if place is not None:
                path.append((place, less[1]))
            less = before
        return path

    def _next(self, share: _Share, within: str) -> Iterator[tuple[_Share, Place | None]]:
        """A topic has its least and its most; between them it gives to brokers, or takes."""
        topic, broker = share
        if topic == _ALL:
            for name in {place[0]: None for place in self._preferred.of[_ALL][broker]}:
                if len(self._preferred.of[name][broker]) > self._fewest(name):
                    yield (name, broker), None
            return
        for place in self._preferred.of[topic][broker]:
            for each in self._replicas[place]:
                if each in self._preferred.of[topic]:
                    yield (topic, each), place
        if within == _ALL and len(self._preferred.of[topic][broker]) == self._fewest(topic):
            yield (_ALL, broker), None

    def _fewest(self, topic: str) -> int:
        return min(map(len, self._preferred.of[topic].values()))


def leaders(placed: Mapping[Place, Placed]) -> Counter[int]:
    return Counter(one.leader for one in placed.values())


def preferred_leaders(placed: Mapping[Place, Placed]) -> Counter[int]:
    return Counter(one.replicas[0] for one in placed.values() if one.replicas)
