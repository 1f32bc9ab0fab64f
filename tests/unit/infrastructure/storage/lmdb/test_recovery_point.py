from __future__ import annotations

import resource
from pathlib import Path

import pytest

from infrastructure.opening import open_storage
from infrastructure.storage.engine import Storage
from infrastructure.storage.errors import StorageDamaged, StorageUnusable
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.environment import LmdbEnvironment
from infrastructure.storage.lmdb.identity import FORMAT, WITHOUT_PARTS
from infrastructure.storage.lmdb.recovery_point import (
    SLOT_BYTES,
    UNSYNCED_FILE,
    RecoveryPoint,
)
from tests.fakes.batches import record_batch
from tests.fakes.limits import limited
from tests.fakes.machine import restart_machine
from tests.unit.infrastructure.storage.lmdb.reopening import (
    after_a_kill,
    after_a_reboot,
    committed,
    flush,
    flushed,
    got,
    opened,
    put,
)


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    flushed(tmp_path / "store", b"not flushed")

    again = opened(after_a_kill(tmp_path / "store", tmp_path / "copy"))

    assert got(again) == b"not flushed"
    assert again.info.power_cut is None and again.info.losses == 0


def test_after_a_power_cut_the_store_is_as_of_the_newest_flush(tmp_path: Path) -> None:
    storage = opened(tmp_path / "store")
    for number in range(300):
        put(storage, b"%d" % number * 500, b"%d" % (number % 40))
        if number == 200:
            flush(storage)
            expected = storage.state.scan("table")
    assert storage.state.scan("table") != expected

    again = opened(after_a_reboot(tmp_path / "store", tmp_path / "copy"))

    assert again.state.scan("table") == expected
    assert "as of the newest flush" in (again.info.power_cut or "")


@pytest.mark.parametrize("policy", ["commit", "interval", "os"])
def test_commits_after_a_restored_root_are_durable(tmp_path: Path, policy: Flush) -> None:
    storage = flushed(tmp_path / "store", b"lost")
    restored = opened(after_a_reboot(tmp_path / "store", tmp_path / "copy"), policy)
    put(restored, b"new")

    again = opened(after_a_kill(tmp_path / "copy", tmp_path / "second copy"))

    assert got(again) == b"new"
    assert (storage.info.losses, restored.info.losses, again.info.losses) == (0, 1, 1)


def test_a_second_power_cut_before_the_first_flush_restores_the_same_state(tmp_path: Path) -> None:
    flushed(tmp_path / "store", b"lost")
    restored = opened(after_a_reboot(tmp_path / "store", tmp_path / "copy"))
    put(restored, b"lost too")

    again = opened(after_a_reboot(tmp_path / "copy", tmp_path / "second copy"))

    assert got(again) == b"flushed"


def test_a_torn_slot_leaves_the_previous_one(tmp_path: Path) -> None:
    storage = opened(tmp_path / "store")
    for value in (b"one", b"two"):
        put(storage, value)
        flush(storage)
    copy = after_a_reboot(tmp_path / "store", tmp_path / "copy")
    newest = RecoveryPoint(copy).found
    assert newest is not None
    with (copy / UNSYNCED_FILE).open("r+b") as file:
        file.seek(newest.number % 2 * SLOT_BYTES + 100)
        file.write(b"torn")

    again = opened(copy)

    assert got(again) == b"one"


@pytest.mark.parametrize("policy", ["interval", "os"])
def test_a_closed_store_has_no_recovery_point(tmp_path: Path, policy: Flush) -> None:
    storage = opened(tmp_path, policy)
    put(storage, b"value")
    assert (tmp_path / UNSYNCED_FILE).exists()

    storage.commit.close()

    assert not (tmp_path / UNSYNCED_FILE).exists()


@pytest.mark.parametrize("policy", ["interval", "os"])
def test_with_flush_commit_the_writes_of_a_killed_process_are_synced_first(
    tmp_path: Path, policy: Flush
) -> None:
    storage = opened(tmp_path / "store", policy)
    put(storage, b"value")
    copy = after_a_kill(tmp_path / "store", tmp_path / "copy")

    again = opened(copy, "commit")

    assert got(again) == b"value"
    assert not (copy / UNSYNCED_FILE).exists()


@pytest.mark.parametrize("policy", ["commit", "interval"])
def test_a_format_is_raised_only_when_there_is_a_newer_recovery_point(
    tmp_path: Path, policy: Flush, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = opened(tmp_path / "store")
    storage.state.put("store", b"format", b"%d" % WITHOUT_PARTS)
    put(storage, b"flushed")
    flush(storage)
    for number in range(4):  # free the pages of the flushed commit
        put(storage, b"%d" % number)
    copy = after_a_kill(tmp_path / "store", tmp_path / "copy")
    monkeypatch.setattr(LmdbEnvironment, "keep_newest", power_cut)
    with pytest.raises(StorageUnusable):
        open_storage(f"lmdb://{copy}", policy)
    monkeypatch.undo()
    restart_machine(copy)

    again = opened(copy, policy)

    assert got(again) == b"flushed"
    assert again.state.get("store", b"format") == b"%d" % FORMAT


def power_cut(environment: LmdbEnvironment) -> None:
    raise OSError


def test_pages_are_reused_when_a_newer_root_is_synced(tmp_path: Path) -> None:
    storage = opened(tmp_path)
    sizes = []
    for number in range(600):
        put(storage, bytes(100_000))
        if number % 10 == 9:
            flush(storage)
            sizes.append((tmp_path / "data.mdb").stat().st_size)

    assert sizes[-1] == sizes[10]


def test_a_map_can_grow_while_it_has_a_recovery_point(tmp_path: Path) -> None:
    storage = opened(tmp_path / "store", map_size_bytes=1 << 20)
    put(storage, b"flushed")
    flush(storage)
    for number in range(100):
        put(storage, bytes(50_000), b"%03d" % number)

    again = opened(after_a_reboot(tmp_path / "store", tmp_path / "copy"))

    # Growing the map syncs everything, because the recovery point is dropped.
    *others, (_, first) = again.state.scan("table")
    assert first == b"flushed"
    assert others == [(b"%03d" % number, bytes(50_000)) for number in range(len(others))]
    assert 0 < len(others) < len(storage.state.scan("table")) - 1 == 100


def test_on_a_full_disk_deleted_data_makes_room_after_a_flush(tmp_path: Path) -> None:
    storage = opened(tmp_path)
    with limited(resource.RLIMIT_FSIZE, 1_000_000):
        count = next(number for number in range(1000) if not fits(storage, b"%d" % number))
        flush(storage)
        for number in range(count // 2):
            storage.state.put("table", b"%d" % number, None)
        assert committed(storage)
        for _ in range(2):
            flush(storage)
            room = fits(storage, b"more")
    assert room


def fits(storage: Storage, key: bytes) -> bool:
    storage.state.put("table", key, bytes(10_000))
    return committed(storage)


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("data.mdb", UNSYNCED_FILE)}


@pytest.mark.parametrize("policy", ["interval", "os"])
def test_a_read_only_store_changes_no_file(tmp_path: Path, policy: Flush) -> None:
    storage = opened(tmp_path / "store", policy)
    put(storage, b"not flushed")
    copy = after_a_kill(tmp_path / "store", tmp_path / "copy")
    before = files(copy)

    reader = open_storage(f"lmdb://{copy}", read_only=True)
    assert got(reader) == b"not flushed"
    reader.state.put("table", b"key", b"changed")
    assert not committed(reader)
    reader.commit.close()

    assert files(copy) == before


def test_a_read_only_store_after_a_power_cut_has_the_newest_flush(
    tmp_path: Path,
) -> None:
    flushed(tmp_path / "store", b"lost")
    copy = after_a_reboot(tmp_path / "store", tmp_path / "copy")
    point = (copy / UNSYNCED_FILE).read_bytes()

    reader = open_storage(f"lmdb://{copy}", read_only=True)
    assert got(reader) == b"flushed"
    reader.commit.close()
    assert (copy / UNSYNCED_FILE).read_bytes() == point

    again = opened(copy)
    assert got(again) == b"flushed"
    assert "as of the newest flush" in (again.info.power_cut or "")


def with_flush_os(folder: Path) -> None:
    storage = opened(folder, "os")
    for offset in range(0, 50, 2):
        for each in (offset, offset + 1):  # they share an entry
            storage.log.append(1, each, record_batch([b"value" * 1000], base_offset=each))
        put(storage, b"%d" % (offset + 1))


@pytest.mark.parametrize("policy", ["commit", "interval", "os"])
def test_after_a_reboot_an_undamaged_store_opens(tmp_path: Path, policy: Flush) -> None:
    with_flush_os(tmp_path / "store")

    again = opened(after_a_reboot(tmp_path / "store", tmp_path / "copy"), policy)

    assert "is whole" in (again.info.power_cut or "")
    assert got(again) == b"49" and again.info.losses == 1


def test_after_a_reboot_missing_pages_are_found(tmp_path: Path) -> None:
    with_flush_os(tmp_path / "store")
    copy = after_a_reboot(tmp_path / "store", tmp_path / "copy")
    size_bytes = (copy / "data.mdb").stat().st_size
    with (copy / "data.mdb").open("r+b") as file:
        file.seek(2 * 4096)
        file.write(bytes(size_bytes - 2 * 4096))

    for _ in range(2):  # the second time too
        with pytest.raises(StorageDamaged, match="flush=os, and the store is damaged") as refused:
            opened(copy, "os")
        assert "\n" not in str(refused.value)


def test_after_a_reboot_a_changed_batch_is_found(tmp_path: Path) -> None:
    with_flush_os(tmp_path / "store")
    copy = after_a_reboot(tmp_path / "store", tmp_path / "copy")
    data = (copy / "data.mdb").read_bytes()
    place = data.index(b"valuevaluevalue" * 10)
    while place >= 0:  # in all copies of the batch
        data = data[:place] + b"other" + data[place + 5 :]
        place = data.find(b"valuevaluevalue" * 300, place)
    (copy / "data.mdb").write_bytes(data)

    with pytest.raises(StorageDamaged, match="partition 1, offset 1: another checksum"):
        opened(copy, "os")
