from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from domain.errors import InvalidRegularExpression, UnreleasedInstanceId
from domain.groups.consumer.draft import Draft, Overlay
from domain.groups.consumer.member import MemberSubscription
from tests.unit.domain.groups.consumer.world import World, WorldRegexes


class NeverRead(dict[str, MemberSubscription]):
    """Members that are only looked up."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("all members are read")

    def copy(self) -> dict[str, MemberSubscription]:
        raise AssertionError("all members are copied")


@pytest.mark.parametrize("seed", range(20))
def test_an_overlay_behaves_like_a_changed_copy(seed: int) -> None:
    random = Random(seed)
    base = {number: str(number) for number in range(5)}
    copy, overlay = base.copy(), Overlay(base)
    for step in range(20):
        key = random.randrange(8)
        assert copy.pop(key, None) == overlay.pop(key, None)
        if random.random() < 0.6:
            copy[key] = overlay[key] = f"step {step}"
        assert [*overlay.items()] == [*copy.items()]
        assert (len(overlay), [*overlay], [*overlay.values()]) == (
            len(copy),
            [*copy],
            [*copy.values()],
        )
        assert [one in overlay for one in range(8)] == [one in copy for one in range(8)]
    assert base == {number: str(number) for number in range(5)}


def test_a_heartbeat_does_not_iterate_over_all_members() -> None:
    world = World(t=2)
    for member_id in ("a", "b"):
        world.join(member_id, "t")
    world.settle()
    world.group.members = NeverRead(world.group.members)
    world.beat("a", client_host="/elsewhere")
    assert [type(change).__name__ for change in world.changes] == ["MemberChanged"]


def test_a_refused_request_leaves_the_group_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(t=1)
    world.join("a", "t", instance_id="i")
    before = repr([*Draft(world.group).members.items()]), world.group.epoch
    with pytest.raises(UnreleasedInstanceId):
        world.join("b", "t", instance_id="i")

    def check(self: WorldRegexes, regex: str) -> None:
        raise InvalidRegularExpression(regex)

    monkeypatch.setattr(WorldRegexes, "check", check)
    with pytest.raises(InvalidRegularExpression):
        world.beat("a", regex="(", instance_id="i")
    assert (repr([*Draft(world.group).members.items()]), world.group.epoch) == before
