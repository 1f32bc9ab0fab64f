"""A log over appends, DeleteRecords, retention, searches by time and restarts, against a list."""

from __future__ import annotations

from typing import NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from application.partitions.delete_records import RecordsToDelete
from application.partitions.list_offsets import Search
from domain.partitions import partition
from tests.fakes.batches import TIMESTAMP, record_batch
from tests.fakes.broker import FakeBroker

#: For trimming, in slices.
WHILE_MS = 100
LIMITS = st.sampled_from([-1, -1, 0, 60, 100, 250, 1000])


class Batch(NamedTuple):
    base: int
    last: int
    timestamp: int
    data: bytes


class RetentionModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.patch = patch.object(partition, "INDEX_INTERVAL_BYTES", 200)
        self.patch.start()
        self.fake = FakeBroker()
        self.fake.topic("t")
        self.batches: list[Batch] = []
        self.start = self.end = 0
        self.limits = (-1, -1)
        self.limit(*self.limits)

    def teardown(self) -> None:
        self.patch.stop()

    @rule(
        ago=st.sampled_from([0, 0, 0, 50, 150, 2000, -300]),
        is_stamped=st.sampled_from([True, True, True, False]),
        records=st.integers(1, 3),
    )
    def append(self, ago: int, is_stamped: bool, records: int) -> None:
        timestamp = self.fake.clock.now_ms() - ago if is_stamped else -1
        appended = self.fake.appended(record_batch(["x"] * records, timestamp=timestamp))
        data = self.fake.stored()[-len(record_batch(["x"] * records)) :]
        assert appended.base_offset == self.end
        self.end += records
        self.batches.append(Batch(appended.base_offset, self.end - 1, timestamp, data))

    @rule(share=st.floats(0, 1))
    def delete_records(self, share: float) -> None:
        offset = round(share * self.end)
        self.fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, offset)])
        self.fake.run()
        self.start = max(self.start, offset)

    @rule(retention_ms=LIMITS, retention_bytes=LIMITS)
    def limit(self, retention_ms: int, retention_bytes: int) -> None:
        self.limits = retention_ms, retention_bytes
        configs = {"retention.ms": str(retention_ms), "retention.bytes": str(retention_bytes)}
        self.fake.broker.catalog.put(self.fake.existing().configured(configs))

    @rule(ms=st.sampled_from([1, 60, 200, 1500]))
    def wait(self, ms: int) -> None:
        self.fake.clock.advance(ms)

    @rule()
    def restart(self) -> None:
        clock = self.fake.clock
        self.fake = self.fake.restarted()
        self.fake.clock.advance(clock.now_ms() - TIMESTAMP)
        self.limit(*self.limits)

    @rule(is_trimmed=st.booleans())
    def expire(self, is_trimmed: bool) -> None:
        """With and without deleted batches that are still stored."""
        if is_trimmed:
            self.fake.broker.trimming.start()
            self.fake.scheduler.advance(WHILE_MS)
        self.fake.broker.background.run(self.fake.broker.retention._expire())
        self.fake.run()
        self.start = max(self.start, self._by_time(), self._by_size())

    @property
    def _left(self) -> list[Batch]:
        return [one for one in self.batches if one.last >= self.start]

    def _by_time(self) -> int:
        start, limit_ms = self.start, self.limits[0]
        for one in self._left if limit_ms >= 0 else ():
            if one.timestamp >= self.fake.clock.now_ms() - limit_ms:
                break
            if one.timestamp >= 0:
                start = one.last + 1
        return start

    def _by_size(self) -> int:
        left, limit_bytes = self._left, self.limits[1]
        while limit_bytes >= 0 and left and sum(len(one.data) for one in left[1:]) >= limit_bytes:
            del left[0]
        return left[0].base if left else self.end

    @rule(ago=st.sampled_from([-200, 0, 40, 100, 500, 3000]))
    def search(self, ago: int) -> None:
        timestamp = self.fake.clock.now_ms() - ago
        service = self.fake.broker.messages.list_offsets
        found = service.find(self.fake.partition(), timestamp, read_committed=False)
        if isinstance(found, Search):
            search = found
            service.complete([search])
            self.fake.run()
            assert search.result is not None
            found = search.result  # type: ignore[assignment]
        first = next((one for one in self._left if one.timestamp >= timestamp), None)
        expected = -1 if first is None else max(first.base, self.start)
        assert found.offset == expected  # type: ignore[union-attr]

    @invariant()
    def the_log_starts_where_it_should(self) -> None:
        log = self.fake.partition()
        assert (log.log_start_offset, log.high_watermark) == (self.start, self.end)
        stored = self.fake.stored()
        assert stored.endswith(b"".join(one.data for one in self._left))
        assert log.durable.size_bytes == len(stored)


RetentionModel.TestCase.settings = settings(stateful_step_count=30)
TestRetention = pytest.mark.timeout(600)(RetentionModel.TestCase)  # with --long
