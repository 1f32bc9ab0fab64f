"""`.cleaned` takes the place of its segment, and the row stops to say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from application.ports.log_store import END_OF_PASS
from infrastructure.storage.files import log_folder
from infrastructure.storage.files.rows import COMPLETE
from tests.unit.infrastructure.storage.files.stores import (
    FIRST,
    ID,
    after_a_reboot,
    append,
    everything,
    flush,
    keep,
    named,
    opened,
    row,
)


def test_the_names_are_durable_before_the_row_forgets_the_rewrite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = named(tmp_path / "store", "commit")
    append(storage, 0, 1)
    append(storage, 2, segment=True)
    synced = []
    monkeypatch.setattr(
        log_folder, "sync_folder", lambda path: synced.append((path.name, row(storage).rewrites))
    )

    storage.log.replace(ID, 0, 0, [], [])
    keep(storage)
    assert storage.log.copy_before(ID, END_OF_PASS) is False
    keep(storage)

    [(folder, rewrites)] = synced
    assert folder == "orders-0"
    assert [one.from_position for one in rewrites] == [COMPLETE]
    assert row(storage).rewrites == ()
    assert everything(storage) == [1, 2]


def test_a_second_rewrite_is_not_taken_for_the_first_after_a_power_cut(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    storage = named(folder, "interval")
    append(storage, 0, 1, 2, 3)
    append(storage, 4, segment=True)
    flush(storage)
    storage.log.replace(ID, 0, 0, [], [])
    keep(storage)
    storage.log.copy_before(ID, END_OF_PASS)
    keep(storage)
    storage.log.replace(ID, 1, 1, [], [])
    keep(storage)
    assert (folder / "orders-0" / f"{FIRST}.cleaned").exists()

    again = opened(after_a_reboot(folder, tmp_path / "cut"), "interval")

    assert everything(again) == [1, 2, 3, 4]
