"""Checks the history of a group: views of the broker and reports of members, without I/O."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Place = tuple[str, int]


@dataclass(frozen=True)
class View:
    """A group as the broker describes it: members and their partitions."""

    group: str
    stable: bool
    assigned: Mapping[str, frozenset[Place]]
    #: KIP-848 only: target assignments and the group epoch.
    target: Mapping[str, frozenset[Place]] = field(default_factory=dict)
    epoch: int = -1


@dataclass(frozen=True)
class Report:
    """The partitions that a member reports, with its generation or member epoch."""

    group: str
    generation: int
    #: The group.instance.id of a static member, else the member's name.
    owner: str
    held: frozenset[Place]


def owned_twice(assigned: Mapping[str, frozenset[Place]]) -> list[Place]:
    owners = Counter(place for held in assigned.values() for place in held)
    return sorted(place for place, count in owners.items() if count > 1)


class GroupChecker:
    """One group: its views and commits as they are polled."""

    def __init__(self, group: str, partitions: Iterable[Place], eager: bool) -> None:
        self.group, self.partitions, self.eager = group, frozenset(partitions), eager
        self.committed: dict[Place, int] = {}
        self.epoch = -1
        self.views = self.stable_views = self.polls = 0
        self.wrong: list[str] = []

    def saw(self, view: View) -> None:
        self.views += 1
        self.stable_views += view.stable
        for what, assigned in (("assigned", view.assigned), ("to be assigned", view.target)):
            if view.stable or view.target:
                for place in owned_twice(assigned):
                    self.wrong.append(f"{self.group}: {place} is {what} to two members: {view}")
        if view.stable and self.eager and view.assigned and not self.covered(view):
            self.wrong.append(f"{self.group}: a stable generation without all partitions: {view}")
        if 0 <= view.epoch < self.epoch:
            self.wrong.append(f"{self.group}: its epoch went from {self.epoch} to {view.epoch}")
        self.epoch = view.epoch

    def covered(self, view: View) -> bool:
        return frozenset().union(*view.assigned.values()) == self.partitions

    def settled(self, view: View) -> bool:
        """Each partition has exactly one owner."""
        return view.stable and self.covered(view) and not owned_twice(view.assigned)

    def fetched(self, offsets: Mapping[Place, int]) -> None:
        self.polls += 1
        for place, offset in offsets.items():
            before = self.committed.get(place, -1)
            if offset < before:
                self.wrong.append(f"{self.group}: {place} went from {before} back to {offset}")
            self.committed[place] = offset
        for place in self.committed.keys() - offsets.keys():
            self.wrong.append(f"{self.group}: the offset of {place} is gone")
            del self.committed[place]


def held_by_two(reports: Iterable[Report]) -> list[str]:
    """Returns partitions that two members report in one generation."""
    owners: dict[tuple[str, int, Place], str] = {}
    wrong = []
    for report in reports:
        if report.generation < 0:  # it was removed from the group
            continue
        for place in report.held:
            key = (report.group, report.generation, place)
            owner = owners.setdefault(key, report.owner)
            if owner != report.owner:
                wrong.append(f"{key} is held by {owner} and by {report.owner}")
    return wrong


def lost(produced: Iterable[str], arrived: Iterable[str]) -> list[str]:
    """Returns produced values that did not arrive at the end of the chain."""
    return sorted(set(produced) - set(arrived), key=lambda value: (len(value), value))


def repeated(arrived: Iterable[str]) -> int:
    """Duplicates are allowed, and counted."""
    counted = Counter(arrived)
    return counted.total() - len(counted)
