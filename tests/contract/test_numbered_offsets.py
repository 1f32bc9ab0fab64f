"""Offsets by number, over every engine: pending ones by producer id, and the outbox."""

from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.repositories.numbered_offsets import NumberedOffsets
from tests.contract.engines import OpenStore
from tests.contract.test_offset_repository import ODD, row


def rows(store: OpenStore) -> NumberedOffsets:
    return NumberedOffsets(store.state, "pending_offsets")


def test_offsets_are_found_by_their_number(store: OpenStore) -> None:
    rows(store).save(1, [row(5), row(6, partition=1)])
    rows(store).save(2**62, [row(7)])
    assert list(rows(store).load()) == []
    assert store.commit() is None
    assert sorted(rows(store).load(1), key=lambda one: one[1][:3]) == [
        (1, row(5)),
        (1, row(6, partition=1)),
    ]
    assert list(rows(store).load(2**62)) == [(2**62, row(7))]
    assert list(rows(store).load(0)) == []
    rows(store).save(1, [("g", "t", 0, None), ("g", "t", 9, None), row(8, partition=1)])
    assert store.commit() is None
    assert list(rows(store).load()) == [(1, row(8, partition=1)), (2**62, row(7))]


def test_offsets_of_some_groups_are_loaded(store: OpenStore) -> None:
    rows(store).save(1, [row(5), row(6, "h")])
    rows(store).save(2, [row(7, "h")])
    assert store.commit() is None
    assert list(rows(store).load(includes=lambda one: one == "g")) == [(1, row(5))]
    assert list(rows(store).load(1, lambda one: one == "h")) == [(1, row(6, "h"))]


def test_many_offsets_are_loaded_in_parts(store: OpenStore) -> None:
    for number in (1, 2, 3):
        rows(store).save(number, [row(n, partition=n) for n in range(300)])
    assert store.commit() is None
    assert len(list(rows(store).load(2))) == 300
    assert [number for number, _ in rows(store).load()] == [1] * 300 + [2] * 300 + [3] * 300


def test_long_and_unusual_names_survive_a_restart(lasting_store: OpenStore) -> None:
    expected = [row(n, name, "t" * 249) for n, name in enumerate(ODD)]
    rows(lasting_store).save(7, expected)
    assert lasting_store.commit() is None
    lasting_store.reopen()
    found = sorted((one for _, one in rows(lasting_store).load(7)), key=lambda one: one[3].offset)
    assert found == expected


@pytest.mark.parametrize("value", [b"", b"\0\0\0\x09", b"\0\0\0\x00" + bytes(60)])
def test_a_damaged_row_is_refused(store: OpenStore, value: bytes) -> None:
    store.state.put("pending_offsets", bytes(24), value)
    assert store.commit() is None
    with pytest.raises(StorageFailed):
        list(rows(store).load())
