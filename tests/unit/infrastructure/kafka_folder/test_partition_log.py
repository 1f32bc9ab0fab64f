from __future__ import annotations

from pathlib import Path

import pytest

from infrastructure.kafka_folder.partition_log import PartitionLog
from infrastructure.kafka_folder.refused import Damaged, FolderRefused
from tests.fakes.batches import record_batch


def offsets(log: PartitionLog) -> list[int]:
    return [batch.base_offset for _, batch in log.batches()]


def test_segments_in_order(original: Path) -> None:
    log = PartitionLog(original / "segments-0")
    assert len(log.segments) > 4
    assert offsets(log) == sorted(offsets(log))
    assert log.base_offset == log.segments[-1].base_offset > 0
    assert log.size_bytes == sum(batch.size_bytes for _, batch in log.batches())


def test_the_log_starts_at_its_first_segment_or_above(original: Path) -> None:
    folder = original / "trimmed-0"
    assert PartitionLog(folder).start_offset == 6
    assert PartitionLog(folder, 10).start_offset == 10
    later = PartitionLog(folder, 18)
    assert (later.start_offset, offsets(later)) == (18, [])


def test_a_batch_with_records_above_the_start_is_whole(original: Path) -> None:
    [segment] = PartitionLog(original / "stamped-0").segments
    assert segment.base_offset == 0
    log = PartitionLog(original / "stamped-0", 3)
    assert next(batch.base_offset for _, batch in log.batches()) <= 3


def test_the_newest_snapshot_up_to_an_offset(original: Path) -> None:
    log = PartitionLog(original / "trimmed-0")
    assert log.producers(18)[0] == 18
    assert log.producers(17)[0] == 6
    assert log.producers(5) == (0, [])


def test_files_that_kafka_removes_later_are_ignored(folder: Path) -> None:
    before = offsets(PartitionLog(folder / "segments-0"))
    for name in (f"{0:020}.log.deleted", f"{4:020}.log.cleaned", "x.tmp"):
        (folder / "segments-0" / name).write_text("x")
    assert offsets(PartitionLog(folder / "segments-0")) == before


@pytest.mark.parametrize("name", ["notes.txt", "123.log", f"{0:020}.log.bak", "data"])
def test_foreign_files_are_refused(folder: Path, name: str) -> None:
    (folder / "segments-0" / name).write_text("x")
    with pytest.raises(FolderRefused, match="is not a file of Kafka's"):
        PartitionLog(folder / "segments-0")


def test_an_interrupted_compaction_is_refused(folder: Path) -> None:
    (folder / "compacted-0" / f"{0:020}.log.swap").write_text("x")
    with pytest.raises(FolderRefused, match="start and stop Kafka once"):
        PartitionLog(folder / "compacted-0")


def test_a_folder_in_place_of_a_segment_is_refused(folder: Path) -> None:
    (folder / "segments-0" / f"{99:020}.log").mkdir()
    with pytest.raises(FolderRefused, match="is not a file"):
        PartitionLog(folder / "segments-0")


def test_a_folder_without_segments_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FolderRefused, match="has no segment"):
        PartitionLog(tmp_path)


def test_offsets_of_the_next_segment_are_damage(folder: Path) -> None:
    log = PartitionLog(folder / "segments-0")
    first, second = log.segments[:2]
    first.path.write_bytes(
        first.path.read_bytes() + record_batch(["a", "b"], base_offset=second.base_offset)
    )
    with pytest.raises(Damaged, match="offsets of the next segment"):
        offsets(PartitionLog(folder / "segments-0"))


def test_only_the_tail_of_the_last_segment_is_cut(folder: Path) -> None:
    log = PartitionLog(folder / "segments-0", cut_tail=True)
    whole = offsets(log)
    last = log.segments[-1].path
    last.write_bytes(last.read_bytes()[:-1])
    with pytest.raises(Damaged):
        offsets(PartitionLog(folder / "segments-0"))
    cut = PartitionLog(folder / "segments-0", cut_tail=True)
    assert offsets(cut) == whole[:-1]
    assert cut.cut_bytes > 0
    first = log.segments[0].path
    first.write_bytes(first.read_bytes()[:-1])
    with pytest.raises(Damaged):
        offsets(PartitionLog(folder / "segments-0", cut_tail=True))


def test_a_log_that_ends_before_its_snapshot_is_cut_off(original: Path) -> None:
    log = PartitionLog(original / "segments-0")
    log.check_end(40)
    with pytest.raises(FolderRefused, match="cut off"):
        log.check_end(36)
