from __future__ import annotations

from pathlib import Path

import pytest
from crc32c import crc32c

from infrastructure.kafka_folder.refused import Damaged, FolderRefused
from infrastructure.kafka_folder.segment import batches, messages_of
from tests.fakes.batches import record_batch

FIRST = f"{0:020}.log"


def ends(data: bytes) -> list[int]:
    """Where each batch ends."""
    found, position = [0], 0
    while position < len(data):
        position += 12 + int.from_bytes(data[position + 8 : position + 12], "big")
        found.append(position)
    return found


@pytest.mark.parametrize("partition", range(5))
def test_batches_of_every_codec(original: Path, partition: int) -> None:
    found = list(batches(original / f"codecs-{partition}" / FIRST, 0))
    assert [one.codec for one in found] == [partition] * len(found)
    records = [record for one in found for record in messages_of(one)]
    assert [one.offset for one in records] == list(range(40))
    assert records[1].value == b"value-1-" * 5
    assert records[1].headers == ((b"h", b"1"), (b"n", None))


@pytest.mark.parametrize("name", ["transactions-0", "codecs-4"])
def test_a_file_that_is_cut_off_anywhere_is_refused_or_ends_after_a_batch(
    original: Path, tmp_path: Path, name: str
) -> None:
    whole, path = (original / name / FIRST).read_bytes(), tmp_path / FIRST
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        if length in ends(whole):
            assert sum(one.size_bytes for one in batches(path, 0)) == length
            continue
        with pytest.raises(Damaged) as damage:
            list(batches(path, 0))
        assert damage.value.position == max(end for end in ends(whole) if end < length)


def test_a_flipped_bit_is_found_unless_the_broker_writes_the_field(
    original: Path, tmp_path: Path
) -> None:
    whole, path = (original / "transactions-0" / FIRST).read_bytes(), tmp_path / FIRST
    first = ends(whole)[1]
    for position in range(first):
        for bit in (0x01, 0x80):
            changed = bytearray(whole)
            changed[position] ^= bit
            path.write_bytes(changed)
            try:
                found = [one.base_offset for one in batches(path, 0)]
            except FolderRefused:
                continue
            # Offset and leader epoch are not in the checksum.
            assert position < 8 or 12 <= position < 16
            assert position < 16 and found != []


def test_batches_do_not_go_back(tmp_path: Path) -> None:
    path = tmp_path / FIRST
    path.write_bytes(record_batch(["a", "b"], base_offset=5) + record_batch(["c"], base_offset=6))
    with pytest.raises(Damaged, match="a batch at offset 6, below 7"):
        list(batches(path, 0))
    with pytest.raises(Damaged, match="a batch at offset 5, below 9"):
        list(batches(path, 9))


@pytest.mark.parametrize("facts", [{"count": 3}, {"count": -1}, {"last_offset_delta": -1}])
def test_a_batch_with_impossible_numbers_is_refused(tmp_path: Path, facts: dict[str, int]) -> None:
    path = tmp_path / FIRST
    path.write_bytes(record_batch(["a", "b"], **facts))  # type: ignore[arg-type]
    with pytest.raises(Damaged, match="records in"):
        list(batches(path, 0))


def test_an_unknown_codec_is_refused(tmp_path: Path) -> None:
    path = tmp_path / FIRST
    data = record_batch(["a"])
    data[22] |= 5
    data[17:21] = crc32c(bytes(data[21:])).to_bytes(4, "big")
    path.write_bytes(data)
    with pytest.raises(Damaged, match="unknown compression 5"):
        list(batches(path, 0))


@pytest.mark.parametrize("magic", [0, 1])
def test_older_formats_are_named(tmp_path: Path, magic: int) -> None:
    path = tmp_path / FIRST
    path.write_bytes(record_batch(["a"], magic=magic))
    with pytest.raises(FolderRefused, match=f"message format v{magic}"):
        list(batches(path, 0))


def test_zeros_at_the_end_are_damage(original: Path, tmp_path: Path) -> None:
    """As after a power cut."""
    path = tmp_path / FIRST
    path.write_bytes((original / "codecs-1" / FIRST).read_bytes() + bytes(4096))
    with pytest.raises(Damaged):
        list(batches(path, 0))
