"""Which replicas partitions should have: evenly on living brokers, or away from one of them.

A plan has the new replicas of those partitions that change, the preferred leader first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

#: Topic and partition.
Place = tuple[str, int]
Replicas = tuple[int, ...]
Plan = dict[Place, Replicas]


class Placed(NamedTuple):
    #: The preferred leader first.
    replicas: Replicas
    #: -1: none.
    leader: int


def drained(placed: Mapping[Place, Placed], node_id: int, alive: Collection[int]) -> Plan:
    """`alive` has another broker. Each takes about as many; if a partition is on all of them it
    has one replica less.
    """
    spread = _Spread(placed, {each for each in alive if each != node_id})
    for place, one in placed.items():
        if node_id in one.replicas:
            spread.replace(place, {node_id})
    return spread.plan()


def balanced(placed: Mapping[Place, Placed], alive: Collection[int]) -> Plan:
    """Replicas of brokers that are not alive move, too, where another broker can have them."""
    spread = _Spread(placed, alive)
    for place, one in placed.items():
        gone = {each for each in one.replicas if each not in alive}
        if gone:
            spread.replace(place, gone)
            spread.add(place, [each for each in one.replicas if each in gone])
    while spread.even_replicas():
        pass
    while spread.even_preferred():
        pass
    return spread.plan()


class _Spread:
    def __init__(self, placed: Mapping[Place, Placed], alive: Collection[int]) -> None:
        self._before = {place: one.replicas for place, one in placed.items()}
        self._replicas = {place: list(one.replicas) for place, one in placed.items()}
        #: Of living brokers, in the order of the partitions.
        self._on: dict[int, dict[Place, None]] = {each: {} for each in sorted(alive)}
        self._preferred: dict[int, dict[Place, None]] = {each: {} for each in sorted(alive)}
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
            if each in self._on:
                self._on[each][place] = None
                if position == 0:
                    self._preferred[each][place] = None

    def _set(self, place: Place, replicas: list[int]) -> None:
        for each in self._replicas[place]:
            if each in self._on:
                self._on[each].pop(place, None)
                self._preferred[each].pop(place, None)
        self._replicas[place] = replicas
        self._count(place)

    def replace(self, place: Place, gone: Collection[int]) -> None:
        """By the living brokers that have the least; those that have none to replace them end."""
        before = self._replicas[place]
        free = [each for each in self._on if each not in before]
        after: list[int] = []
        for each in before:
            if each not in gone:
                after.append(each)
            elif free:
                of = self._on if after else self._preferred
                least = min(free, key=lambda one: (len(of[one]), len(self._on[one]), one))
                free.remove(least)
                after.append(least)
        self._set(place, after)

    def add(self, place: Place, replicas: list[int]) -> None:
        """At the end, up to the number of before."""
        found = self._replicas[place]
        self._set(place, found + replicas[: len(self._before[place]) - len(found)])

    def even_replicas(self) -> bool:
        """Moves one replica from a broker with more to one with less. False: there is none."""
        for more, less in _pairs(self._on):
            place = self._movable(more, less)
            if place is not None:
                moved = [less if each == more else each for each in self._replicas[place]]
                self._set(place, moved)
                return True
        return False

    def _movable(self, more: int, less: int) -> Place | None:
        """A preferred leader if `more` has too many of these, too."""
        movable = [each for each in self._on[more] if less not in self._replicas[each]]
        leads = len(self._preferred[more]) - len(self._preferred[less]) >= 2
        fitting = (each for each in movable if (each in self._preferred[more]) == leads)
        return next(fitting, next(iter(movable), None))

    def even_preferred(self) -> bool:
        """The same for preferred leaders, among the replicas that partitions have; perhaps over
        other brokers, which pass one on.
        """
        for more, less in _pairs(self._preferred):
            path = self._path(more, less)
            for place, leader in path:
                others = [each for each in self._replicas[place] if each != leader]
                self._set(place, [leader, *others])
            if path:
                return True
        return False

    def _path(self, more: int, less: int) -> list[tuple[Place, int]]:
        """Partitions with their new leaders, the shortest way; empty: there is none."""
        #: How each broker is reached.
        reached: dict[int, tuple[int, Place]] = {}
        waiting = [more]
        for broker in waiting:
            for place in self._preferred[broker]:
                for each in self._replicas[place]:
                    if each in self._on and each != more and each not in reached:
                        reached[each] = broker, place
                        waiting.append(each)
            if less in reached:
                break
        path: list[tuple[Place, int]] = []
        while less in reached:
            before, place = reached[less]
            path.append((place, less))
            less = before
        return path


def _pairs(of: Mapping[int, Collection[Place]]) -> Iterator[tuple[int, int]]:
    """Brokers with too many and too few, the farthest apart first."""
    ordered = sorted(of, key=lambda each: (len(of[each]), each))
    for less in ordered:
        for more in reversed(ordered):
            if len(of[more]) - len(of[less]) < 2:
                break
            yield more, less


def leaders(placed: Mapping[Place, Placed]) -> Counter[int]:
    return Counter(one.leader for one in placed.values())


def preferred_leaders(placed: Mapping[Place, Placed]) -> Counter[int]:
    return Counter(one.replicas[0] for one in placed.values() if one.replicas)
