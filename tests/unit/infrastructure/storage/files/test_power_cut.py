"""flush=os after a power cut: each log is cut before its first batch that is not whole."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from application.ports.log_store import END_OF_PASS
from domain.messages.batch import RecordBatch
from infrastructure.opening import contents, opened_beside
from infrastructure.storage.engine import Storage
from infrastructure.storage.errors import StorageUnusable
from tests.unit.infrastructure.storage.files.stores import (
    FIRST,
    ID,
    NAME,
    a_batch,
    after_a_kill,
    after_a_reboot,
    append,
    everything,
    keep,
    named,
    opened,
    row,
)

SECOND = "00000000000000000003.log"
BATCH_BYTES = 100


def filled(folder: Path) -> Storage:
    """Two segments of three batches."""
    storage = named(folder, "os")
    append(storage, 0, 1, 2)
    append(storage, 3, 4, 5, segment=True)
    return storage


def changed(name: str, change: Callable[[bytes], bytes], tmp_path: Path) -> Storage:
    """The store after a power cut that has left a file so."""
    filled(tmp_path / "store")
    cut = after_a_reboot(tmp_path / "store", tmp_path / "cut")
    file = cut / "orders-0" / name
    file.write_bytes(change(file.read_bytes()))
    return opened(cut, "os")


def test_a_whole_log_stays_as_it_is(tmp_path: Path) -> None:
    storage = changed(FIRST, bytes, tmp_path)

    assert everything(storage) == [0, 1, 2, 3, 4, 5]
    assert "is whole" in (storage.info.power_cut or "")


@pytest.mark.parametrize(
    "name, change, left",
    [
        (SECOND, lambda data: data[:250], 5),
        (SECOND, lambda data: data[:BATCH_BYTES] + bytes(200), 4),
        (SECOND, lambda data: data[:170] + b"?" + data[171:], 4),
        (SECOND, lambda data: b"", 3),
        (FIRST, lambda data: data[:BATCH_BYTES], 1),
        (FIRST, lambda data: data[:BATCH_BYTES] * 3, 1),
    ],
    ids=["shorter", "zeros", "checksum", "empty", "first segment", "offsets"],
)
def test_a_damaged_log_ends_before_the_damage(
    tmp_path: Path, name: str, change: Callable[[bytes], bytes], left: int
) -> None:
    storage = changed(name, change, tmp_path)

    assert everything(storage) == list(range(left))
    assert f"orders-0 at {left}" in (storage.info.power_cut or "")
    append(storage, left, left + 1)
    storage.commit.close()
    assert everything(opened(tmp_path / "cut", "os")) == list(range(left + 2))


def test_a_segment_that_was_removed_is_no_damage(tmp_path: Path) -> None:
    filled(tmp_path / "store")
    cut = after_a_reboot(tmp_path / "store", tmp_path / "cut")
    (cut / "orders-0" / FIRST).unlink()

    storage = opened(cut, "os")

    assert everything(storage) == [3, 4, 5]
    assert contents(storage).partitions.snapshot_bounds(ID)[0] == 3


def test_the_folder_of_another_topic_is_not_taken_for_the_log(tmp_path: Path) -> None:
    filled(tmp_path / "store")
    cut = after_a_reboot(tmp_path / "store", tmp_path / "cut")
    (cut / "orders-0" / "partition.metadata").write_text("version: 0\ntopic_id: " + "B" * 22)

    assert everything(opened(cut, "os")) == []


def test_a_segment_from_before_its_rewrite_is_taken(tmp_path: Path) -> None:
    storage = filled(tmp_path / "store")
    before = (tmp_path / "store" / "orders-0" / FIRST).read_bytes()
    storage.log.replace(ID, 0, 0, [], [])
    keep(storage)
    storage.log.copy_before(ID, END_OF_PASS)
    keep(storage)
    assert everything(storage) == [1, 2, 3, 4, 5]
    cut = after_a_reboot(tmp_path / "store", tmp_path / "cut")
    (cut / "orders-0" / FIRST).write_bytes(before)

    assert everything(opened(cut, "os")) == [0, 1, 2, 3, 4, 5]


def test_a_damaged_unfinished_rewrite_is_given_up(tmp_path: Path) -> None:
    storage = filled(tmp_path / "store")
    storage.log.replace(ID, 0, 0, [a_batch(0)], [])
    keep(storage)
    cut = after_a_reboot(tmp_path / "store", tmp_path / "cut")
    (cut / "orders-0" / f"{FIRST}.cleaned").write_bytes(bytes(BATCH_BYTES))

    again = opened(cut, "os")

    assert everything(again) == [0, 1, 2, 3, 4, 5]
    assert row(again).rewrites == ()


def test_entries_of_the_timestamp_index_behind_the_cut_go(tmp_path: Path) -> None:
    storage = changed(SECOND, lambda data: b"", tmp_path)

    assert storage.log.at_timestamp(ID, 5000) == 3


def test_the_rows_of_the_partition_fit_the_log_also_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = filled(tmp_path / "store")
    snapshot = b'{"end":[6,1005,5],"start":1,"size":600,"epochs":[[0,0],[2,4]]}'
    storage.state.put("partitions", ID.to_bytes(4, "big"), snapshot)
    for table in ("producers", "aborted"):
        for number in (2, 5):
            storage.state.put(table, ID.to_bytes(4, "big") + number.to_bytes(8, "big"), b"row")
    keep(storage)
    cut = after_a_reboot(tmp_path / "store", tmp_path / "cut")
    (cut / "orders-0" / SECOND).write_bytes(a_batch(3))
    with monkeypatch.context() as patch:
        patch.setattr("infrastructure.opening._settle", killed)
        with pytest.raises(KeyboardInterrupt):
            opened(cut, "os")

    again = opened(after_a_kill(cut, tmp_path / "killed"), "os")

    assert contents(again).partitions.snapshot_bounds(ID) == (1, 1)
    assert again.state.scan("producers") == []
    assert [key[-1] for key, _ in again.state.scan("aborted")] == [2]
    [(_, stored)] = again.state.scan("partitions")
    assert b'"size":100,' in stored and b'"epochs":[[0,0]]' in stored


def killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_tool_that_changes_nothing_refuses_a_log_that_has_to_be_cut(tmp_path: Path) -> None:
    filled(tmp_path / "store")
    cut = after_a_reboot(tmp_path / "store", tmp_path / "cut")
    (cut / "orders-0" / SECOND).write_bytes(a_batch(3))

    with pytest.raises(StorageUnusable, match="start a broker on it first"):
        opened(cut, "os", read_only=True)
    assert everything(opened(cut, "os")) == [0, 1, 2, 3]


def test_a_reader_beside_waits_for_the_check(tmp_path: Path) -> None:
    filled(tmp_path / "store")
    cut = after_a_reboot(tmp_path / "store", tmp_path / "cut")

    with pytest.raises(StorageUnusable, match="looked at first"), opened_beside(f"files://{cut}"):
        pass


def test_a_segment_whose_removal_is_undone_is_not_part_of_the_log(tmp_path: Path) -> None:
    storage = named(tmp_path, "commit")
    for offset in range(3):
        append(storage, offset, segment=True)
    middle = tmp_path / "orders-0" / "00000000000000000001.log"
    before = middle.read_bytes()
    storage.log.replace(ID, 1, 1, [], [])
    keep(storage)
    storage.commit.close()
    middle.write_bytes(before)

    assert everything(opened(tmp_path, "commit")) == [0, 2]


def test_batches_that_are_left_are_recovered(tmp_path: Path) -> None:
    storage = changed(SECOND, lambda data: data[:250], tmp_path)

    headers = storage.log.headers(ID, 0, 10)

    assert [RecordBatch(memoryview(one)).last_offset for one in headers] == [0, 1, 2, 3, 4]
    assert row(storage).name == NAME
