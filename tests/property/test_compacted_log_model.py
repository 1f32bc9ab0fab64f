"""A compacted partition of a broker against the list of its records, while everything happens to
it: appends, deletions, retention, failed commits, restarts, and passes of compaction that these
cut. Consumers fetch at any offset, also of removed records, and search by timestamp.
"""

from __future__ import annotations

from contextlib import ExitStack
from unittest.mock import patch

import pytest
from crc32c import crc32c
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from application.background.runner import LONGEST_RETRY_MS, PAUSE_MS
from application.partitions import log_cleaner
from application.partitions.delete_records import RecordsToDelete
from application.partitions.fetch import FetchItem, FetchQuery
from application.partitions.list_offsets import FoundOffset, Search
from domain.compaction import cleaner
from domain.errors import BrokerError
from domain.messages.batch import RecordBatch, batches_in
from domain.messages.message import Message
from domain.partitions import partition
from tests.fakes.batches import GZIP, NONE, Record, record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.compaction import FakeWorker, messages_of
from tests.unit.application.partitions.test_compaction import cleaner_of

BACKOFF_MS, SEGMENT_MS, INDEX_BYTES = 400, 25, 1
CONFIGS = {
    "cleanup_policy": "compact,delete",
    "segment_ms": str(SEGMENT_MS),
    "min_cleanable_dirty_ratio": "0.1",
    "delete_retention_ms": "200",
    "retention_ms": "-1",
}
KEYS = st.integers(0, 5)
VALUES = st.sampled_from([None, b"", b"value", b"v" * 500])
AGES_MS = st.sampled_from([0, 0, 0, 1, 400])
LIMITS = st.sampled_from(["-1", "-1", "60", "1000"])


class CompactedLog(RuleBasedStateMachine):
    with_worker: bool

    @initialize()
    def open(self) -> None:
        self.fake = FakeBroker(
            log_cleaner_backoff_ms=str(BACKOFF_MS), log_retention_check_interval_ms="500"
        )
        self.fake.topic("t", partitions=1, **CONFIGS)
        self.limits: dict[str, str] = {}
        self.searched: tuple[bytes, int] | None = None
        self.start()
        #: Every record that was ever committed, and the first and last offset of its batch.
        self.records: dict[int, Message] = {}
        self.batches: set[tuple[int, int]] = set()

    def start(self) -> None:
        """A worker computes a whole pass at once, so that others change the log meanwhile."""
        if self.with_worker:
            cleaner_of(self.fake)._workers = FakeWorker()
        self.fake.broker.start_upkeep()

    @rule(
        batches=st.lists(
            st.lists(st.tuples(KEYS, VALUES, AGES_MS), min_size=1, max_size=3), min_size=4
        ),
        codec=st.sampled_from([NONE, GZIP]),
        apart_ms=st.sampled_from([0, PAUSE_MS, SEGMENT_MS + 1]),
    )
    def append(
        self, batches: list[list[tuple[int, bytes | None, int]]], codec: int, apart_ms: int
    ) -> None:
        for batch in batches:
            self.fake.scheduler.advance(apart_ms)
            now_ms = self.fake.clock.now_ms()
            rows: list[Record] = [
                (b"%d" % key, value, (), now_ms - age_ms) for key, value, age_ms in batch
            ]
            data = record_batch(rows, codec=codec)
            appended = self.fake.append(data)
            assert not isinstance(appended, BrokerError)
            self.fake.run()
            if self.fake.partition().high_watermark > appended.last_offset:
                self.batches.add((appended.base_offset, appended.last_offset))
                for message in messages_of(RecordBatch(memoryview(data))):
                    message.offset += appended.base_offset
                    self.records[message.offset] = message

    @rule(ms=st.sampled_from([1, PAUSE_MS, 10, 30, BACKOFF_MS, BACKOFF_MS + LONGEST_RETRY_MS]))
    def wait(self, ms: int) -> None:
        self.fake.scheduler.advance(ms)

    @rule()
    def the_next_commit_fails(self) -> None:
        self.fake.commit.fail_next()

    @rule(share=st.floats(0, 1))
    def delete_records(self, share: float) -> None:
        offset = int(self.fake.partition().high_watermark * share)
        self.fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, offset)])
        self.fake.run()

    @rule(retention_ms=LIMITS, retention_bytes=LIMITS)
    def limit(self, retention_ms: str, retention_bytes: str) -> None:
        self.limits = {"retention.ms": retention_ms, "retention.bytes": retention_bytes}
        self.apply_limits()

    def apply_limits(self) -> None:
        topic = self.fake.existing()
        self.fake.broker.catalog.put(topic.configured({**topic.configs, **self.limits}))

    @rule()
    def restart(self) -> None:
        before = self.state()
        self.fake = self.fake.restarted()
        self.apply_limits()
        self.start()
        assert self.state() == before

    def state(self) -> tuple[object, ...]:
        partition = self.fake.partition()
        return (
            partition.log_start_offset,
            partition.high_watermark,
            partition.durable.size_bytes,
            partition.segment.base_offset,
            partition.cleaned,
        )

    # ---- what consumers see

    @rule(share=st.floats(0, 1), max_bytes=st.sampled_from([1, 300, 1 << 20]))
    def fetch(self, share: float, max_bytes: int) -> None:
        """From any offset on: the records that are left, each once."""
        log = self.fake.partition()
        start, end = log.log_start_offset, log.high_watermark
        offset = start + int((end - start) * share)
        expected = [one for one in self.stored() if one.offset >= offset]
        found: list[Message] = []
        position = offset
        while position < end:
            item = FetchItem("t", bytes(16), 0, position, max_bytes, -1)
            query = FetchQuery([item], 0, 1, max_bytes, False)
            [fetched] = self.fake.broker.messages.fetch.fetch(query)  # type: ignore[misc]
            assert fetched.records
            for batch in batches_in(fetched.records):
                assert batch.last_offset >= position
                position = batch.last_offset + 1
                found += messages_of(batch)
        assert [one for one in found if one.offset >= offset] == expected

    @invariant()
    def searches_find_the_first_record_that_is_left(self) -> None:
        log = self.fake.partition()
        state = self.fake.stored(), log.log_start_offset
        if state == self.searched:
            return
        self.searched = state
        left = [one for one in self.stored() if one.offset >= log.log_start_offset]
        times = {one.timestamp for one in left}
        for timestamp in times | {time + 1 for time in times}:
            first = next((one.offset for one in left if one.timestamp >= timestamp), -1)
            assert self.search(timestamp) == first

    def search(self, timestamp: int) -> int:
        service = self.fake.broker.messages.list_offsets
        found = service.find(self.fake.partition(), timestamp, read_committed=False)
        if isinstance(found, Search):
            assert service.complete([found]) is None
            assert isinstance(found.result, FoundOffset)
            found = found.result
        return found.offset

    # ---- what always holds

    def stored(self) -> list[Message]:
        return [message for batch in self.stored_batches() for message in messages_of(batch)]

    def stored_batches(self) -> list[RecordBatch]:
        return list(batches_in(self.fake.stored()))

    @invariant()
    def batches_keep_their_place_in_the_log(self) -> None:
        batches = self.stored_batches()
        offsets = [offset for one in batches for offset in (one.base_offset, one.last_offset)]
        assert offsets == sorted(offsets)
        for batch in batches:
            assert (batch.base_offset, batch.last_offset) in self.batches
            assert batch.crc == crc32c(batch.buffer[21:])
            times = [message.timestamp for message in messages_of(batch)]
            assert not times or batch.max_timestamp == max(times)

    @invariant()
    def the_last_record_of_each_key_is_there(self) -> None:
        partition = self.fake.partition()
        messages = self.stored()
        assert messages == [self.records[one.offset] for one in messages]
        stored = {one.offset for one in messages}
        start = partition.log_start_offset
        last = {one.key: one for one in self.records.values()}
        for one in last.values():
            has_value = one.value is not None
            assert one.offset in stored or one.offset < start or not has_value, one
        # What is not compacted yet is there whole.
        for offset in range(max(partition.cleaned.next_offset, start), partition.high_watermark):
            if offset >= partition.segment.base_offset:
                assert offset in stored, offset

    @invariant()
    def the_size_is_that_of_the_store(self) -> None:
        partition = self.fake.partition()
        if not len(self.fake.broker.trimming):
            assert partition.durable.size_bytes == len(self.fake.stored())

    def teardown(self) -> None:
        """In the end one record of each key is left in front of the active segment."""
        if not hasattr(self, "fake"):
            return
        self.fake.commit.failures.clear()
        self.fake.scheduler.advance(2 * (BACKOFF_MS + LONGEST_RETRY_MS))
        partition = self.fake.partition()
        if partition.cleaned.next_offset == partition.segment.base_offset:
            keys = [m.key for m in self.stored() if m.offset < partition.segment.base_offset]
            assert len(keys) == len(set(keys))


@pytest.mark.parametrize("with_worker", [False, True])
def test_a_compacted_log_has_the_last_record_of_each_key(with_worker: bool) -> None:
    machine = type("Machine", (CompactedLog,), {"with_worker": with_worker})
    with ExitStack() as context:
        for module, name, value in (
            (log_cleaner, "READ_BYTES_HERE", 150),
            (log_cleaner, "SMALL_LOG_BYTES", 0),
            (partition, "INDEX_INTERVAL_BYTES", INDEX_BYTES),
            (cleaner, "INDEX_INTERVAL_BYTES", INDEX_BYTES),
        ):
            context.enter_context(patch.object(module, name, value))
        run_state_machine_as_test(
            machine, settings=settings(max_examples=30, stateful_step_count=25)
        )
