from __future__ import annotations

import pytest

from domain.errors import InvalidRecord
from domain.groups.classic.changes import Image
from domain.groups.classic.metadata_record import group_record
from domain.groups.offsets import CommittedOffset
from domain.groups.offsets_topic import offset_records
from domain.messages.batch import RecordBatch
from domain.messages.control import EndMarker, end_marker
from domain.messages.message import Message
from interfaces.cli.kafka_import.group_image import GroupImage
from tests.fakes.batches import TIMESTAMP, record_batch

PRODUCER = 7
PLACE = ("g", "t", 0)


class Log:
    """Replays records as they are appended."""

    def __init__(self) -> None:
        self.image = GroupImage()
        self.offset = 0

    def record(
        self, key: bytes, value: bytes | None, producer_id: int = -1, transactional: bool = False
    ) -> None:
        data = record_batch(
            [""], base_offset=self.offset, producer_id=producer_id, transactional=transactional
        )
        batch = RecordBatch(memoryview(data))
        self.image.replay_marker(batch)
        self.image.replay(batch, Message(self.offset, TIMESTAMP, key, value))
        self.offset += 1

    def commit(self, offset: int | None, producer_id: int = -1) -> None:
        committed = offset if offset is None else CommittedOffset(offset, 0, "", 5, None, bytes(16))
        [(key, value)] = offset_records("g", [("t", 0, committed)])
        self.record(key, value, producer_id, producer_id >= 0)

    def end(self, committed: bool) -> None:
        from crc32c import crc32c

        self.image.replay_marker(end_marker(EndMarker(PRODUCER, 0, 0, committed), 0, crc32c))
        self.offset += 1

    @property
    def committed(self) -> int | None:
        written = self.image.offsets.get(PLACE)
        return None if written is None else written[1].offset


def test_the_newest_offset_counts_and_a_tombstone_removes_it() -> None:
    log = Log()
    log.commit(3)
    log.commit(5)
    assert log.committed == 5
    log.commit(None)
    assert log.committed is None


@pytest.mark.parametrize("committed, expected", [(True, 9), (False, 3)])
def test_offsets_of_a_transaction_count_when_it_is_committed(
    committed: bool, expected: int
) -> None:
    log = Log()
    log.commit(3)
    log.commit(9, PRODUCER)
    assert log.committed == 3
    log.end(committed)
    assert log.committed == expected
    assert not log.image.pending


def test_a_plain_commit_after_that_of_a_transaction_wins() -> None:
    log = Log()
    log.commit(9, PRODUCER)
    log.commit(4)
    log.end(True)
    assert log.committed == 4


def test_offsets_of_an_open_transaction_are_pending() -> None:
    log = Log()
    log.commit(9, PRODUCER)
    assert log.image.pending[PRODUCER][PLACE][1].offset == 9


def test_groups_of_every_kind() -> None:
    log = Log()
    key, value = group_record("c", Image(4, "consumer", None, None, 11, (), False))
    log.record(key, value)
    log.record(b"\0\3\0\1k", b"\0\0\0\0\0\7\0")
    log.record(b"\0\6\0\1k", b"\0\0\0\0\0\6\0")
    log.record(b"\0\5\0\1k\0\1m", b"\0\0")
    log.record(b"\0\x0b\0\1s", b"\0\0")
    log.record(b"\0\x11\0\1x", b"\0\0")
    image = log.image
    assert image.group_ids() == {"c", "k"}
    assert (image.classic["c"].generation_id, image.consumer, image.targets) == (
        *(4, {"k": 7}),
        {"k": 6},
    )
    assert (image.share, image.streams) == ({"s"}, {"x"})
    for one in (key, b"\0\3\0\1k", b"\0\6\0\1k", b"\0\x0b\0\1s", b"\0\x11\0\1x"):
        log.record(one, None)
    assert image.group_ids() == image.share == image.streams == set()


@pytest.mark.parametrize("key", [b"", b"\0", b"\0\x18\0\1g", b"\xff\xff"])
def test_an_unknown_key_is_refused(key: bytes) -> None:
    with pytest.raises(InvalidRecord):
        Log().record(key, b"\0\0")
