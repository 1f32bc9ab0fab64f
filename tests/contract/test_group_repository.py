"""GroupRepository over every engine, with classic groups."""

from __future__ import annotations

import pytest

from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from domain.groups.classic.changes import (
    ClassicGroupChange,
    GroupMetadataChanged,
    Image,
    MemberRemoved,
)
from domain.groups.classic.member import MemberImage
from domain.groups.consumer.changes import TargetChanged
from infrastructure.storage.repositories.group_repository import StoredGroupRepository
from tests.contract.engines import OpenStore

EVERY_BYTE = bytes(range(256))


def member(member_id: str, instance_id: str | None = None) -> MemberImage:
    protocols = (("range", EVERY_BYTE), ("sticky", b""))
    return MemberImage(member_id, instance_id, "c", "/127.0.0.1", 60_000, 10_000, protocols, b"\0!")


def generation(
    group_id: str, generation_id: int = 1, *members: MemberImage
) -> GroupMetadataChanged:
    leader = members[0].member_id if members else None
    protocol = "range" if members else None
    image = Image(generation_id, "consumer", protocol, leader, 77, members, bool(members))
    return GroupMetadataChanged(group_id, image)


def images(groups: StoredGroupRepository, group_id: str | None = None) -> dict[str, Image | None]:
    found = {}
    for change in groups.load(group_id):
        assert isinstance(change, GroupMetadataChanged)
        found[change.group_id] = change.image
    return found


def test_groups_are_loaded_by_a_predicate(store: OpenStore) -> None:
    groups = StoredGroupRepository(store.state)
    for group_id in ("a", "b", "c"):
        groups.save(generation(group_id, 1, member("m")))
    store.keep()
    found = {change.group_id for change in groups.load(includes=lambda one: one != "b")}
    assert found == {"a", "c"}


def test_a_saved_group_is_loaded_unchanged(lasting_store: OpenStore) -> None:
    groups = StoredGroupRepository(lasting_store.state)
    full = generation("full", 3, member("a"), member("b", "instance"))
    empty = generation("empty", 9)
    groups.save(full)
    groups.save(empty)
    assert images(groups) == {}
    lasting_store.keep()
    lasting_store.reopen()

    groups = StoredGroupRepository(lasting_store.state)
    assert images(groups) == {"full": full.image, "empty": empty.image}


def test_the_newest_state_is_loaded(store: OpenStore) -> None:
    groups = StoredGroupRepository(store.state)
    groups.save(generation("g", 1, member("a"), member("b")))
    store.keep()
    newer = generation("g", 2, member("b"))
    groups.save(newer)
    store.keep()
    assert images(groups) == {"g": newer.image}


def test_a_deleted_group_is_gone(store: OpenStore) -> None:
    groups = StoredGroupRepository(store.state)
    groups.save(generation("g", 1, member("a")))
    groups.save(generation("h", 1, member("a")))
    store.keep()
    groups.save(GroupMetadataChanged("g", None))
    store.keep()
    assert set(images(groups)) == {"h"}


def test_a_group_is_loaded_without_groups_whose_names_begin_with_its_name(store: OpenStore) -> None:
    groups = StoredGroupRepository(store.state)
    for group_id in ("g", "gg", "g2", "", "ü"):
        groups.save(generation(group_id))
    store.keep()
    for group_id in ("g", "gg", "g2", "", "ü"):
        assert set(images(groups, group_id)) == {group_id}
    assert images(groups, "no-such-group") == {}


@pytest.mark.parametrize("length", [249, 511, 5000, 32_767])
def test_names_may_be_as_long_as_the_protocol_allows(store: OpenStore, length: int) -> None:
    groups = StoredGroupRepository(store.state)
    names = ["x" * (length - 1) + last for last in "yz"]
    for name in names:
        groups.save(generation(name, 4, member("a")))
    store.keep()
    assert set(images(groups)) == set(names)
    assert images(groups, names[0]) == {names[0]: generation(names[0], 4, member("a")).image}


class CountingState:
    def __init__(self, state: StateStore) -> None:
        self._state = state
        self.get, self.put = state.get, state.put
        self.read = 0

    def scan(
        self, table: str, first: bytes = b"", limit: int | None = None
    ) -> list[tuple[bytes, bytes]]:
        rows = self._state.scan(table, first, limit)
        self.read += len(rows)
        return rows


def test_one_group_is_loaded_without_reading_other_groups(store: OpenStore) -> None:
    groups = StoredGroupRepository(store.state)
    for number in range(1000):
        groups.save(generation(f"g{number}"))
    store.keep()
    state = CountingState(store.state)
    assert set(images(StoredGroupRepository(state), "g7")) == {"g7"}
    assert state.read < 300


@pytest.mark.parametrize("length", [20, 350, 5000])
def test_a_group_of_many_rows_is_loaded_in_parts(store: OpenStore, length: int) -> None:
    groups = StoredGroupRepository(store.state)
    for group_id in ("g", "h", "x" * 32_767):
        for number in range(600):
            groups.save(TargetChanged(group_id, f"{number:0{length}}", {}))
    store.keep()
    for group_id in ("g", "h", "x" * 32_767):
        found = list(groups.load(group_id))
        assert {one.group_id for one in found} == {group_id}
        assert sorted(one.member_id for one in found if isinstance(one, TargetChanged)) == [
            f"{number:0{length}}" for number in range(600)
        ]


def test_state_that_a_restart_does_not_need_is_not_saved(store: OpenStore) -> None:
    groups = StoredGroupRepository(store.state)
    passing: ClassicGroupChange = MemberRemoved("g", "a")
    groups.save(passing)
    store.keep()
    assert images(groups) == {}


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"null",
        b"[1]",
        b'["g","",[1,"c",null,null,5,false,7]]',
        b'["g","",["x","",null,null,5,false,[]]]',
        b"[" * 100_000,
    ],
)
def test_a_damaged_row_is_named_in_one_line(store: OpenStore, damage: bytes) -> None:
    groups = StoredGroupRepository(store.state)
    store.state.put("groups", b"a" * 16 + b"c", damage)
    store.keep()
    with pytest.raises(StorageFailed) as failure:
        list(groups.load())
    assert "aaaac" in failure.value.message
    assert "\n" not in failure.value.message


def test_a_row_of_an_unknown_kind_is_damage(store: OpenStore) -> None:
    store.state.put("groups", b"a" * 16 + b"?", b'["g","",[]]')
    store.keep()
    with pytest.raises(StorageFailed):
        list(StoredGroupRepository(store.state).load())
