"""LogStore: batches below the log start offset are removed in slices."""

from __future__ import annotations

import pytest

from tests.contract.batches import batch
from tests.contract.engines import OpenStore
from tests.contract.test_log_store import ALL, append_three


@pytest.mark.parametrize(
    "offset, left", [(0, "abc"), (9, "abc"), (10, "bc"), (14, "bc"), (15, "c"), (39, "c"), (40, "")]
)
def test_batches_that_end_below_an_offset_are_trimmed(
    store: OpenStore, offset: int, left: str
) -> None:
    batches = {}
    for name, last_offset, first_offset in (("a", 9, 0), ("b", 14, 10), ("c", 39, 30)):
        batches[name] = batch(last_offset, name.encode(), first_offset, size_bytes=100)
        store.log.append(7, last_offset, batches[name], last_offset, begins_segment=True)
        store.keep()
    append_three(store, 6)
    append_three(store, 8)

    trimmed = store.log.trim(7, offset, 10)
    assert store.everything(7) == b"".join(batches.values())
    store.keep()

    assert trimmed == (100 * (3 - len(left)), True)
    assert store.everything(7) == b"".join(batches[name] for name in left)
    assert store.log.trim(7, offset, 10) == (0, True)
    store.keep()
    assert len(store.everything(6)) == len(store.everything(8)) == 600


def test_trimming_removes_entries_of_the_timestamp_index(store: OpenStore) -> None:
    for offset in range(4):
        store.log.append(7, offset, batch(offset), 1000 + offset, begins_segment=True)
        store.keep()
    assert store.log.at_timestamp(7, 1002) == 2

    assert store.log.trim(7, 2, 10).done
    store.keep()

    assert [store.log.at_timestamp(7, 1000 + after) for after in range(5)] == [0, 0, 0, 3, 4]


def test_trimming_ends_after_several_slices(store: OpenStore) -> None:
    for offset in range(10):
        store.log.append(7, offset, batch(offset, size_bytes=100), offset, begins_segment=True)
        store.keep()

    slices = []
    for _ in range(3):
        slices.append(store.log.trim(7, 9, 4))
        store.keep()

    assert slices == [(400, False), (400, False), (100, True)]
    assert store.everything(7) == batch(9, size_bytes=100)


def test_two_trims_of_one_pass_remove_each_batch_once(store: OpenStore) -> None:
    for offset in range(3):
        store.log.append(7, offset, batch(offset, size_bytes=100), begins_segment=True)
        store.keep()

    assert store.log.trim(7, 2, 1) == (100, False)
    assert store.log.trim(7, 2, 1) == (100, True)
    store.log.append(7, 3, batch(3, size_bytes=100))
    store.keep()

    assert store.everything(7) == batch(2, size_bytes=100) + batch(3, size_bytes=100)


def test_batches_in_the_entry_of_the_log_start_stay_readable(store: OpenStore) -> None:
    batches = [batch(offset, b"%d" % offset) for offset in range(6)]
    for offset, one in enumerate(batches):
        store.log.append(7, offset, one)
    store.keep()

    assert store.log.trim(7, 4, 10).done
    store.keep()

    assert store.log.read(7, 4, ALL, ALL, True) == batches[4] + batches[5]
    assert store.everything(7).endswith(batches[4] + batches[5])


def test_an_empty_trimmed_partition_accepts_new_batches(store: OpenStore) -> None:
    append_three(store)
    assert store.log.trim(7, 40, 10) == (600, True)
    store.keep()
    assert store.log.partition_ids() == []

    store.log.append(7, 40, batch(40, b"new"), 5)
    store.keep()

    assert store.everything(7) == batch(40, b"new")
    assert store.log.at_timestamp(7, 6) == 41


def test_trimming_an_unknown_partition_is_done_at_once(store: OpenStore) -> None:
    assert store.log.trim(7, 100, 1) == (0, True)
    store.keep()
