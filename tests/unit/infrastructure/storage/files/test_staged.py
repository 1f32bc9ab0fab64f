"""What a pass does to files and names, and what is left when it fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from application.ports.log_store import LogName
from tests.contract.batches import batch
from tests.fakes.files_store import ORDERS, FilesStore, P, unnamed

LARGE = 40_000


def test_a_log_that_loses_its_name_keeps_the_segment_of_the_same_pass(store: FilesStore) -> None:
    store.name()
    store.keep()
    data = store.append(0)
    store.name(None)
    store.keep()
    assert store.everything() == data
    assert store.path(0, "index").exists()


def test_a_dropped_log_leaves_those_of_a_new_topic_of_its_name(store: FilesStore) -> None:
    store.name()
    store.keep()
    store.append(0)
    store.name(None)
    store.keep()
    store.name(LogName("orders", 0, bytes(16)), partition_id=9)
    store.keep()
    data = store.append(0, partition_id=9)
    store.keep()
    store.drop()
    store.reopen()
    assert store.everything(9) == data


def test_a_failed_pass_gives_a_log_its_name_back(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.name()
    store.keep()
    data = store.fill([0])
    store.append(1, roll=True)
    store.name(None)
    with monkeypatch.context() as failing:
        failing.setattr(type(store.files), "sync_all", _failing)
        assert "could not stage" in store.refused()
    assert store.everything() == data
    assert store.listing() == [
        *(f"orders-0/{0:020d}.{kind}" for kind in ("index", "log", "timeindex")),
        "orders-0/partition.metadata",
    ]


def test_batches_of_a_failed_pass_are_cut_off_though_their_log_was_dropped(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = store.fill([0])
    store.append(1, LARGE)
    assert store.log.drop(P, 1)
    with monkeypatch.context() as failing:
        failing.setattr(type(store.files.rows), "put", _failing)
        store.refused()
    assert store.path(0).stat().st_size == len(data)


def test_what_could_not_be_cut_off_is_when_the_segment_ends(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = store.fill([0])
    store.append(1, LARGE)
    with monkeypatch.context() as failing:
        failing.setattr(os, "fdatasync", _failing)
        failing.setattr(os, "ftruncate", _failing)
        store.refused()
    assert store.path(0).stat().st_size == len(data) + LARGE
    data += store.fill([2])
    store.reopen()
    assert store.everything() == data


def test_a_file_that_a_failed_pass_could_not_remove_is_gone_before_the_next(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = store.fill([0])
    store.append(5, roll=True)
    with monkeypatch.context() as failing:
        failing.setattr(type(store.files), "sync_all", _failing)
        failing.setattr(os, "unlink", _failing)
        store.refused()
    assert store.path(5).exists()
    for offset in range(1, 9):
        data += store.append(offset)
    data += store.append(9, roll=True)
    store.keep()
    store.reopen()
    assert store.log.read(P, 5, 99, 1 << 20, True) == data[500:]


def test_a_segment_that_would_begin_within_another_is_refused(store: FilesStore) -> None:
    data = store.fill([4])
    store.log.append(P, 9, batch(9, b"", 4, 100), -1, True)
    assert "has a batch at" in store.refused()
    assert store.everything() == data


def test_a_failed_append_leaves_an_emptied_log_its_segments_until_the_flush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = FilesStore(tmp_path / "store", "interval")
    store.fill([0])
    store.run_flush()
    assert store.log.trim(P, 1, 9).done
    store.keep()
    store.append(1, LARGE)
    with monkeypatch.context() as failing:
        failing.setattr(type(store.files.rows), "put", _failing)
        store.refused()
    assert store.everything() == b""
    assert store.path(0).exists()
    store.run_flush()
    assert not store.path(0).exists()


def test_a_log_that_never_got_a_batch_has_no_row(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append(0)
    with monkeypatch.context() as failing:
        failing.setattr(type(store.files), "sync_all", _failing)
        store.refused()
    assert store.files.find(P) is None
    assert store.listing() == []
    store.reopen()
    assert not (store.folder / unnamed(P)).exists()


def test_a_folder_of_a_lost_topic_is_put_aside(tmp_path: Path) -> None:
    """After a power cut with flush=interval."""
    store = FilesStore(tmp_path / "store")
    stale = store.folder / "orders-0"
    stale.mkdir()
    (stale / f"{5:020d}.log").write_bytes(batch(5, size_bytes=100))
    store.name(ORDERS)
    store.keep()
    data = b"".join(store.append(offset) for offset in range(9))
    store.keep()
    data += store.fill([9])
    store.reopen()
    assert store.everything() == data


def _failing(*arguments: object) -> None:
    raise OSError(5, "Input/output error")
