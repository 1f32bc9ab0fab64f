"""With flush=interval: a removed segment stays until no power cut can bring back its row."""

from __future__ import annotations

from pathlib import Path

import pytest

from infrastructure.storage.lmdb.environment import LmdbEnvironment
from tests.fakes.files_store import FilesStore, P
from tests.fakes.machine import restart_machine


@pytest.fixture
def store(tmp_path: Path) -> FilesStore:
    store = FilesStore(tmp_path / "store", "interval")
    store.fill([0], [1])
    store.run_flush()
    assert store.log.trim(P, 1, 1).done
    store.keep()
    return store


def test_a_removed_segment_stays_until_the_flush(store: FilesStore) -> None:
    assert store.path(0).exists()
    store.run_flush()
    assert not store.path(0).exists()


def test_a_removed_segment_goes_when_the_store_is_closed(store: FilesStore) -> None:
    store.close()
    assert not store.path(0).exists()
    assert store.path(1).exists()


def test_after_a_failed_flush_removed_segments_stay(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as failing:
        failing.setattr(LmdbEnvironment, "sync", _failing)
        store.run_flush()
    store.close()
    assert store.path(0).exists()
    store.reopen()
    assert len(store.everything()) == 200


def test_a_segment_that_a_snapshot_brings_back_stays(tmp_path: Path) -> None:
    store = FilesStore(tmp_path / "store", "interval")
    data = store.fill([0], [1])
    assert store.storage.take_snapshot is not None
    snapshot = store.storage.take_snapshot()
    store.log.trim(P, 1, 1)
    store.keep()
    snapshot.restore()
    store.append(2)
    store.keep()
    store.run_flush()
    assert store.path(0).exists()
    assert store.everything().startswith(data)
    snapshot.delete()


def _failing(*arguments: object) -> None:
    raise OSError(5, "Input/output error")


def test_batches_that_get_a_name_are_there_after_a_power_cut(store: FilesStore) -> None:
    store.name()
    store.keep()
    store.kill_for_good()
    restart_machine(store.folder)
    store.open_again()
    assert len(store.everything()) == 100


def test_a_failed_flush_before_files_are_replaced_is_final(
    store: FilesStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as failing:
        failing.setattr(LmdbEnvironment, "sync", _failing)
        store.name()
        store.keep()
    store.append(2)
    assert "restart the broker" in store.refused()
