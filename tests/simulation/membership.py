"""The model of the members of one group, from their responses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.model import Violation

if TYPE_CHECKING:
    from tests.simulation.actors.member import Member
    from tests.simulation.world import World

Owned = tuple[str, int]


class Generation:
    """A generation of a classic group."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.leader = ""
        #: Assignments of the leader, by member id.
        self.assignments: list[dict[str, bytes]] = []
        #: Received assignments, by member id.
        self.received: dict[str, bytes] = {}


class Membership:
    """Of one group; its members report their responses."""

    def __init__(self, world: World, group_id: str, is_consumer: bool) -> None:
        self._world = world
        self.group_id = group_id
        self.is_consumer = is_consumer
        self.members: list[Member] = []
        #: The largest reported generation or epoch: later requests get no smaller one.
        self.floor = 0
        self._floor_commit = 0
        self._generations: dict[int, Generation] = {}
        #: Fenced member ids of static members.
        self.fenced: set[str] = set()
        #: Until then its numbers may restart after a deletion.
        self._reset_until_ms = -1
        self.lives = 0

    # ---- numbers

    def reset(self) -> None:
        self._reset_until_ms = self._world.timeline.now + 6_000
        self.floor = 0
        self.lives += 1
        self._generations.clear()

    def check_rises(self, number: int, floor: int, lives: int, client: str) -> None:
        """Checks a generation or epoch of a response; `floor` is that of the request's time."""
        if lives == self.lives and self._world.timeline.now > self._reset_until_ms:
            if number < floor:
                if self._has_lasted():
                    raise Violation(f"{self.group_id} goes back from {floor} to {number}: {client}")
                self.reset()
            elif number > self.floor:
                self.floor, self._floor_commit = number, self._world.disk.commits

    def _has_lasted(self) -> bool:
        """An empty group without offsets may be removed, with its numbers."""
        return self._world.model.committed.always_has_any(
            self.group_id, self._floor_commit, self._world.disk.commits
        )

    def is_over(self, number: int) -> bool:
        return number < self.floor and self._world.timeline.now > self._reset_until_ms

    # ---- a classic group

    def generation(self, number: int) -> Generation:
        if number not in self._generations:
            self._generations[number] = Generation(number)
        return self._generations[number]

    def joined(self, number: int, leader: str, member_id: str, lives: int) -> None:
        if lives != self.lives or self._world.timeline.now <= self._reset_until_ms:
            return
        generation = self.generation(number)
        if generation.leader and leader != generation.leader and not self.fenced:
            if self._has_lasted():
                both = f"{generation.leader} and {leader}"
                raise Violation(f"generation {number} of {self.group_id} is led by {both}")
            self.reset()
        generation.leader = leader

    def assigned(
        self, number: int, member_id: str, instance_id: str | None, data: bytes, owned: set[Owned]
    ) -> None:
        if self._world.timeline.now <= self._reset_until_ms:
            return
        generation = self.generation(number)
        possible = [one.get(member_id, b"") for one in generation.assignments]
        if instance_id:
            # A static member inherits the assignment of an id that its client may never have
            # received: a member id begins with the instance id.
            possible += [
                inherited
                for one in generation.assignments
                for previous, inherited in one.items()
                if previous.startswith(f"{instance_id}-")
            ]
        if data not in possible and not self.fenced:
            raise Violation(f"{member_id} got {owned}, which no leader assigned")
        for other in self.members:
            if other.member_id in ("", member_id) or other.number != number or not other.settled:
                continue
            if other.owned & owned:
                raise Violation(
                    f"{other.owned & owned} of {self.group_id} belong to {other.member_id} and "
                    f"{member_id} in generation {number}"
                )

    # ---- a consumer group

    def check_owners(self, to: Member, held: set[tuple[bytes, int]]) -> None:
        """Checks that no live member has any of these partitions."""
        now = self._world.timeline.now
        for other in self.members:
            if other is to or not other.held & held:
                continue
            if now < other.member_until_ms:
                raise Violation(
                    f"{other.held & held} of {self.group_id} were assigned to {to.name} while "
                    f"{other.name} has them"
                )

    # ---- both

    def is_read(self, topic: str) -> bool:
        now = self._world.timeline.now
        return any(now < one.member_until_ms and topic in one.topics for one in self.members)

    def is_settled(self) -> bool:
        """Returns True if all members share a generation or epoch and own each partition once."""
        there = [one for one in self.members if not one.finished]
        if not there:
            return True
        if any(not one.settled for one in there) or len({one.number for one in there}) > 1:
            return False
        partitions = {
            (topic.name, index)
            for topic in self._world.model.live()
            for index in range(len(topic.partition_ids))
            if topic.name in there[0].topics
        }
        had = [owned for one in there for owned in one.owned]
        return len(had) == len(set(had)) and set(had) == partitions
