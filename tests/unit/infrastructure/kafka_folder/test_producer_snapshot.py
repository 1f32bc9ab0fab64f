from __future__ import annotations

from pathlib import Path

import pytest
from crc32c import crc32c

from infrastructure.kafka_folder.producer_snapshot import read_snapshot
from infrastructure.kafka_folder.refused import FolderRefused

NAME = f"{18:020}.snapshot"


def test_producers_of_kafka(original: Path) -> None:
    first, last = read_snapshot(original / "trimmed-0" / NAME)
    assert (first.last_sequence, first.last_offset, first.offset_delta) == (5, 5, 5)
    state = last.state()
    assert state.newest == (0, 11, 17)
    assert state.batches[0].first_sequence == 11 - last.offset_delta
    assert (state.coordinator_epoch, last.first_offset) == (-1, -1)


def test_an_open_transaction(original: Path) -> None:
    found = read_snapshot(original / "transactions-1" / f"{11:020}.snapshot")
    assert [one.first_offset for one in found if one.first_offset >= 0] == [8]


def test_a_sequence_that_wraps(original: Path) -> None:
    one = read_snapshot(original / "trimmed-0" / NAME)[0]
    state = one._replace(last_sequence=1, offset_delta=3).state()
    assert state.batches[0].first_sequence == 2**31 - 2


def test_a_producer_without_batches(original: Path) -> None:
    one = read_snapshot(original / "trimmed-0" / NAME)[0]
    assert one._replace(last_sequence=-1, last_offset=-1).state().newest == (0, -1, -1)


def test_a_file_that_is_cut_off_or_changed_anywhere_is_refused(
    original: Path, tmp_path: Path
) -> None:
    whole, path = (original / "trimmed-0" / NAME).read_bytes(), tmp_path / NAME
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(FolderRefused):
            read_snapshot(path)
        changed = bytearray(whole)
        changed[length] ^= 0x10
        path.write_bytes(changed)
        with pytest.raises(FolderRefused):
            read_snapshot(path)


def test_another_version_is_refused(original: Path, tmp_path: Path) -> None:
    data = bytearray((original / "trimmed-0" / NAME).read_bytes())
    data[1] = 2
    data[2:6] = crc32c(bytes(data[6:])).to_bytes(4, "big")
    (tmp_path / NAME).write_bytes(data)
    with pytest.raises(FolderRefused, match="version 2"):
        read_snapshot(tmp_path / NAME)
