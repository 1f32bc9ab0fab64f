"""A compacted partition of a broker against a dict of the last values, while everything happens to
it: appends, deletions, failed commits, restarts, and passes of compaction that these cut.
"""

from __future__ import annotations

import pytest
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
from domain.errors import BrokerError
from domain.messages.batch import batches_in
from domain.messages.message import Message
from tests.fakes.batches import GZIP, NONE, Record, record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.compaction import FakeWorker, messages_of
from tests.unit.application.partitions.test_compaction import cleaner_of

BACKOFF_MS, SEGMENT_MS = 50, 25
KEYS = st.integers(0, 5)
VALUES = st.sampled_from([None, b"", b"value", b"v" * 500])


class CompactedLog(RuleBasedStateMachine):
    with_worker: bool

    @initialize()
    def open(self) -> None:
        self.fake = FakeBroker(log_cleaner_backoff_ms=str(BACKOFF_MS))
        self.fake.topic(
            "t",
            cleanup_policy="compact,delete",
            segment_ms=str(SEGMENT_MS),
            min_cleanable_dirty_ratio="0.1",
            delete_retention_ms="200",
            retention_ms="-1",
        )
        self.start()
        #: Every record that was ever committed.
        self.records: dict[int, tuple[bytes, bytes | None]] = {}

    def start(self) -> None:
        """A worker computes a whole pass at once, so that others change the log meanwhile."""
        if self.with_worker:
            cleaner_of(self.fake)._workers = FakeWorker()
        self.fake.broker.start_upkeep()

    @rule(
        batches=st.lists(st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=3), min_size=4),
        codec=st.sampled_from([NONE, GZIP]),
        apart_ms=st.sampled_from([0, PAUSE_MS, SEGMENT_MS + 1]),
    )
    def append(
        self, batches: list[list[tuple[int, bytes | None]]], codec: int, apart_ms: int
    ) -> None:
        for batch in batches:
            self.fake.scheduler.advance(apart_ms)
            now_ms = self.fake.clock.now_ms()
            keyed = [(b"%d" % key, value) for key, value in batch]
            rows: list[Record] = [(key, value, (), now_ms) for key, value in keyed]
            appended = self.fake.append(record_batch(rows, codec=codec))
            assert not isinstance(appended, BrokerError)
            self.fake.run()
            if self.fake.partition().high_watermark > appended.last_offset:
                self.records |= dict(enumerate(keyed, appended.base_offset))

    @rule(ms=st.sampled_from([1, PAUSE_MS, 10, 30, 100, BACKOFF_MS + LONGEST_RETRY_MS]))
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

    @rule()
    def restart(self) -> None:
        before = self.state()
        self.fake = self.fake.restarted()
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

    def stored(self) -> list[Message]:
        batches = list(batches_in(self.fake.stored()))
        last_offsets = [batch.last_offset for batch in batches]
        assert last_offsets == sorted(set(last_offsets))
        return [message for batch in batches for message in messages_of(batch)]

    @invariant()
    def the_last_record_of_each_key_is_there(self) -> None:
        partition = self.fake.partition()
        stored = {one.offset: (one.key, one.value) for one in self.stored()}
        assert stored.items() <= self.records.items()
        start = partition.log_start_offset
        last = {key: offset for offset, (key, _) in sorted(self.records.items())}
        for key, offset in last.items():
            has_value = self.records[offset][1] is not None
            assert offset in stored or offset < start or not has_value, (key, offset)
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
def test_a_compacted_log_has_the_last_record_of_each_key(
    monkeypatch: pytest.MonkeyPatch, with_worker: bool
) -> None:
    monkeypatch.setattr(log_cleaner, "READ_BYTES_HERE", 150)
    monkeypatch.setattr(log_cleaner, "SMALL_LOG_BYTES", 0)
    machine = type("Machine", (CompactedLog,), {"with_worker": with_worker})
    run_state_machine_as_test(machine, settings=settings(max_examples=20, stateful_step_count=25))
