"""Records that were deleted, before or after they had a position, and commits that fail."""

from __future__ import annotations

from collections.abc import Sequence
from unittest.mock import patch

import pytest

from application.partitions.delete_records import RecordsToDelete
from application.ports.pending import Pending
from application.ports.request_log import Requester
from application.streams import stream as stream_module
from application.streams.stream import InvalidStart, RawStream
from domain.errors import BrokerError, OffsetOutOfRange
from domain.security.principal import ANONYMOUS
from domain.streams.frames import frames_of
from tests.fakes.batches import Record, record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.compaction import compact

BY = Requester(ANONYMOUS, None, "192.0.2.7:40001")


class Collector:
    """Positions and refusals in order."""

    def __init__(self) -> None:
        self.placements: list[list[int] | BrokerError] = []

    def staged(self, count: int) -> None:
        pass

    def placed(self, count: int, positions: Sequence[int] | BrokerError) -> None:
        refused = isinstance(positions, BrokerError)
        self.placements.append(positions if refused else list(positions))  # type: ignore[arg-type]

    def advanced(self) -> None:
        pass


def opened(reset: str = "earliest") -> tuple[FakeBroker, RawStream]:
    fake = FakeBroker(raw_listeners="127.0.0.1:0", raw_topic="t", raw_auto_offset_reset=reset)
    fake.topic("t")
    assert fake.broker.streams is not None
    return fake, fake.broker.streams.open(BY)


def delete_before(fake: FakeBroker, offset: int) -> None:
    fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, offset)])
    fake.scheduler.advance(100)


@pytest.mark.parametrize("position", [0, 2, 5])
def test_a_start_whose_position_was_removed_too_begins_at_the_oldest_record_or_is_refused(
    position: int,
) -> None:
    for reset in ("earliest", "none"):
        fake, stream = opened(reset)
        for _ in range(3):
            stream.append([b"v"], Collector())
            fake.run()
        delete_before(fake, 2)
        oldest = fake.core.stream_index.above(fake.partition().partition_id, 0)
        assert oldest is not None and oldest.start == 10
        if reset == "earliest":
            assert stream.locate(position) == 2
        else:
            with pytest.raises(InvalidStart, match="were removed"):
                stream.locate(position)


def test_a_batch_that_is_deleted_before_the_index_reaches_it_is_refused_in_order() -> None:
    fake, stream = opened()
    producer = Collector()
    assert not isinstance(fake.append(record_batch(["by a Kafka producer"])), BrokerError)
    stream.append([b"deleted"], producer)
    fake.log.loading = Pending[None]()  # the index waits for the disk, the deletion does not
    fake.run()
    delete_before(fake, 2)
    stream.append([b"later"], producer)
    fake.log.load()
    fake.scheduler.advance(100)
    deleted, later = producer.placements
    assert isinstance(deleted, OffsetOutOfRange)
    assert later == [0]


def test_a_batch_whose_last_records_were_compacted_is_read_after_a_restart() -> None:
    fake, stream = opened()
    now_ms = fake.clock.now_ms()
    rows: list[Record] = [(key, value, (), now_ms) for key, value in ((b"a", b"1"), (b"b", b"2"))]
    fake.appended(record_batch(rows))
    fake.appended(record_batch([(b"b", b"3", (), now_ms)]))
    compact(fake, 3)
    stream.follow(Collector())
    fake.commit.hold()
    with patch.object(stream_module, "INDEX_BYTES", 1):
        fake.run()
        fake.commit.let_go()  # the first batch, whose last record has no position
    fake = fake.restarted()
    assert fake.broker.streams is not None
    stream = fake.broker.streams.open(BY)
    assert stream.locate(0) == 0
    block = stream.read(0)
    assert (b"".join(block.pieces), block.next_offset) == (frames_of([b"1"]), 2)


def test_the_index_backs_off_while_commits_fail() -> None:
    """It would fail the changes of all others, at the speed of the loop."""
    fake, stream = opened()
    assert not isinstance(fake.append(record_batch(["v"])), BrokerError)
    fake.run()
    for _ in range(20):
        fake.commit.fail_next()
    before = fake.commit.count
    stream.follow(Collector())
    fake.scheduler.advance(500)
    assert fake.commit.count == before + 1
    fake.commit.failures.clear()
    fake.scheduler.advance(1000)
    assert stream.locate(5) == 1
