"""With flush=interval what a commit removes stays until a flush has made that commit durable."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from application.ports.log_store import END_OF_PASS
from infrastructure.storage.files import environment
from tests.contract.batches import batch
from tests.unit.infrastructure.storage.files.stores import (
    FIRST,
    ID,
    NAME,
    append,
    everything,
    flush,
    keep,
    named,
    opened,
)

OTHER = 8


def test_removed_segments_go_with_the_flush_after_it(tmp_path: Path) -> None:
    storage = named(tmp_path, "interval")
    append(storage, 0)
    append(storage, 1, segment=True)
    storage.log.trim(ID, 1, 10)
    keep(storage)
    assert (tmp_path / "orders-0" / FIRST).exists()

    flush(storage)

    assert not (tmp_path / "orders-0" / FIRST).exists()
    assert everything(storage) == [1]


def test_files_of_another_log_with_the_same_name_stay(tmp_path: Path) -> None:
    storage = named(tmp_path, "interval")
    append(storage, 0)
    append(storage, 1, segment=True)
    storage.log.trim(ID, 1, 10)
    keep(storage)
    storage.log.name(ID, None)
    keep(storage)
    storage.log.name(OTHER, NAME._replace(topic_id=bytes(16)))
    keep(storage)
    append(storage, 0, partition_id=OTHER)

    flush(storage)

    assert (tmp_path / "orders-0" / FIRST).exists()
    assert everything(storage) == [1]
    assert everything(storage, OTHER) == [0]


def test_what_the_next_start_goes_back_to_stays_after_a_failed_fsync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = named(tmp_path, "interval")
    append(storage, 0)
    append(storage, 1, segment=True)
    flush(storage)
    storage.log.trim(ID, 1, 10)
    keep(storage)
    with monkeypatch.context() as patch:
        patch.setattr(environment, "sync_file_system", fails)
        flush(storage)
    storage.commit.close()

    again = opened(tmp_path, "interval")

    assert everything(again) == [0, 1]


def test_nothing_is_acknowledged_after_an_fsync_before_a_swap_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = named(tmp_path, "interval")
    append(storage, 0, 1)
    append(storage, 2, segment=True)
    storage.log.replace(ID, 0, 0, [], [])
    keep(storage)
    storage.log.copy_before(ID, END_OF_PASS)
    with monkeypatch.context() as patch:
        patch.setattr(environment, "sync_file_system", fails)
        keep(storage)

    storage.log.append(ID, 3, batch(3))

    failures: list[object] = []
    storage.commit.commit(failures.append)
    assert "could not flush" in str(failures[0])


def fails(_: int) -> None:
    raise OSError(errno.EIO, "Input/output error")
