"""Indexes are not synced with their segment: a power cut leaves any part of them, or more."""

from __future__ import annotations

from pathlib import Path

import pytest

from infrastructure.kafka_folder.index_entries import TIME_ENTRY
from tests.unit.infrastructure.storage.files.stores import ID, append, keep, named, opened

INDEX = "orders-0/00000000000000000000.timeindex"


@pytest.mark.parametrize("last", [(10**6, 500), (0, 0)], ids=["behind the end", "zeros"])
def test_time_entries_that_are_not_of_the_log_go(tmp_path: Path, last: tuple[int, int]) -> None:
    storage = named(tmp_path, "commit")
    append(storage, *range(200))
    storage.commit.close()
    path = tmp_path / INDEX
    before = path.read_bytes()
    path.write_bytes(before + TIME_ENTRY.pack(*last))

    again = opened(tmp_path, "commit")
    append(again, 200)

    entries = list(TIME_ENTRY.iter_unpack(path.read_bytes()))
    assert last not in entries
    assert entries == sorted(entries)
    assert again.log.read(ID, 150, 151, 1 << 20, False)[61:64] == b"150"
    keep(again)
