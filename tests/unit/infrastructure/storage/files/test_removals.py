"""With flush=interval what a commit removes stays until a flush has made that commit durable."""

from __future__ import annotations

from pathlib import Path

from tests.unit.infrastructure.storage.files.stores import (
    FIRST,
    ID,
    NAME,
    append,
    everything,
    flush,
    keep,
    named,
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
