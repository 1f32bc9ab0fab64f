"""The model of one group's members: what each of them was told, and so what others may be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.simulation.model import Violation

if TYPE_CHECKING:
    from tests.simulation.actors.member import Member
    from tests.simulation.world import World

Owned = tuple[str, int]


class Generation:
    """Of a classic group: what its members were told of it."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.leader = ""
        #: By member id: what the leader said they get.
        self.assignments: list[dict[str, bytes]] = []
        #: By member id: what they were told.
        self.told: dict[str, bytes] = {}


class Membership:
    """Belongs to a group; its members tell it what they hear."""

    def __init__(self, world: World, group_id: str, is_modern: bool) -> None:
        self._world = world
        self.group_id = group_id
        self.is_modern = is_modern
        self.members: list[Member] = []
        #: Whatever was told is not to be fallen short of by who asks after that.
        self.floor = 0
        self._floor_commit = 0
        self._generations: dict[int, Generation] = {}
        #: Member ids that another has taken the place of, as somebody was told.
        self.fenced: set[str] = set()
        #: Until then its numbers may begin anew: somebody asked for it to be deleted.
        self._anew_until_ms = -1
        self.lives = 0

    # ---- numbers

    def begins_anew(self) -> None:
        self._anew_until_ms = self._world.timeline.now + 6_000
        self.floor = 0
        self.lives += 1
        self._generations.clear()

    def rises_to(self, number: int, floor: int, lives: int, who: str) -> None:
        """Somebody was told of this generation or epoch; `floor` was told when it asked."""
        if lives == self.lives and self._world.timeline.now > self._anew_until_ms:
            if number < floor:
                if self._has_lasted():
                    raise Violation(f"{self.group_id} goes back from {floor} to {number}: {who}")
                self.begins_anew()
            elif number > self.floor:
                self.floor, self._floor_commit = number, self._world.disk.commits

    def _has_lasted(self) -> bool:
        """An empty group without offsets may be forgotten, and its numbers with it."""
        has_any = self._world.model.committed.has_any
        return has_any(self.group_id, self._floor_commit) and has_any(
            self.group_id, self._world.disk.commits
        )

    def is_over(self, number: int) -> bool:
        return number < self.floor and self._world.timeline.now > self._anew_until_ms

    # ---- a classic group

    def generation(self, number: int) -> Generation:
        if number not in self._generations:
            self._generations[number] = Generation(number)
        return self._generations[number]

    def joined(self, number: int, leader: str, member_id: str, lives: int) -> None:
        if lives != self.lives or self._world.timeline.now <= self._anew_until_ms:
            return
        generation = self.generation(number)
        if generation.leader and leader != generation.leader and not self.fenced:
            if self._has_lasted():
                both = f"{generation.leader} and {leader}"
                raise Violation(f"generation {number} of {self.group_id} is led by {both}")
            self.begins_anew()
        generation.leader = leader

    def assigned(
        self, number: int, member_id: str, instance_id: str | None, data: bytes, owned: set[Owned]
    ) -> None:
        if self._world.timeline.now <= self._anew_until_ms:
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
            raise Violation(f"{member_id} was told {owned}, which no leader said")
        for other in self.members:
            if other.member_id in ("", member_id) or other.number != number or not other.settled:
                continue
            if other.owned & owned:
                raise Violation(
                    f"{other.owned & owned} of {self.group_id} belong to {other.member_id} and "
                    f"{member_id} in generation {number}"
                )

    # ---- a consumer group

    def given(self, to: Member, held: set[tuple[bytes, int]]) -> None:
        """Nobody else may have any of it who is surely still a member."""
        now = self._world.timeline.now
        for other in self.members:
            if other is to or not other.held & held:
                continue
            if now < other.surely_member_until_ms:
                raise Violation(
                    f"{other.held & held} of {self.group_id} were given to {to.name} while "
                    f"{other.name} has them"
                )

    # ---- both

    def is_read(self, topic: str) -> bool:
        now = self._world.timeline.now
        return any(now < one.surely_member_until_ms and topic in one.topics for one in self.members)

    def is_settled(self) -> bool:
        """Everybody works, in one generation or epoch, and together they have everything once."""
        there = [one for one in self.members if not one.finished]
        if not there:
            return True
        if any(not one.settled for one in there) or len({one.number for one in there}) > 1:
            return False
        wanted = {
            (topic.name, index)
            for topic in self._world.model.live()
            for index in range(len(topic.partition_ids))
            if topic.name in there[0].topics
        }
        had = [owned for one in there for owned in one.owned]
        return len(had) == len(set(had)) and set(had) == wanted
