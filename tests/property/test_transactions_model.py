"""A partition with interleaved transactions against a list of what was appended: the last stable
offset, and what READ_COMMITTED consumers read, after failed commits, restarts, deletions and passes
of compaction.
"""

from __future__ import annotations

from typing import NamedTuple

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

from application.partitions.delete_records import RecordsToDelete
from application.partitions.fetch_query import FetchItem, FetchQuery
from application.state.runtime import ignore
from domain.messages.batch import CONTROL, TRANSACTIONAL, batches_in
from domain.messages.control import read_end_marker
from tests.fakes.batches import Record, record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.compaction import messages_of
from tests.fakes.transactions import append_in_transaction, end_transaction

PRODUCERS = (1, 2, 3)
NOBODY = -1
BACKOFF_MS, SEGMENT_MS = 50, 25
KEYS = (b"a", b"b", b"c")


#: Producer, whether to commit or to abort (None: neither), keys.
STEP = st.tuples(
    st.sampled_from((NOBODY, *PRODUCERS)),
    st.sampled_from((None, True, False)),
    st.lists(st.sampled_from(KEYS), min_size=1, max_size=3),
)
SHARE = st.sampled_from((0.0, 0.1, 0.5, 1.0))


class Event(NamedTuple):
    producer_id: int
    keys: list[bytes]
    #: Of a marker.
    committed: bool | None = None
    epoch: int = 0


class View:
    """What a list of events means."""

    def __init__(self, events: list[Event]) -> None:
        self.next_offset = 0
        #: First offsets of open transactions, by producer id.
        self.open: dict[int, int] = {}
        self.epochs = dict.fromkeys(PRODUCERS, 0)
        self.sequences = dict.fromkeys(PRODUCERS, 0)
        self.keys: dict[int, bytes] = {}
        self.aborted: set[int] = set()
        undecided: dict[int, list[int]] = {}
        for event in events:
            producer_id = event.producer_id
            if event.committed is not None:
                if not event.committed:
                    self.aborted.update(undecided.get(producer_id, ()))
                undecided.pop(producer_id, None)
                self.open.pop(producer_id, None)
                if event.epoch != self.epochs[producer_id]:
                    self.epochs[producer_id], self.sequences[producer_id] = event.epoch, 0
                self.next_offset += 1
                continue
            for key in event.keys:
                if producer_id != NOBODY:
                    self.open.setdefault(producer_id, self.next_offset)
                    undecided.setdefault(producer_id, []).append(self.next_offset)
                    self.sequences[producer_id] += 1
                self.keys[self.next_offset] = key
                self.next_offset += 1
        self.stable = min(self.open.values(), default=self.next_offset)

    def committed(self, start: int) -> dict[int, bytes]:
        return {
            offset: key
            for offset, key in self.keys.items()
            if start <= offset < self.stable and offset not in self.aborted
        }


class Transactions(RuleBasedStateMachine):
    policy: str

    @initialize()
    def open(self) -> None:
        self.fake = FakeBroker(log_cleaner_backoff_ms=str(BACKOFF_MS))
        self.fake.topic(
            "t",
            cleanup_policy=self.policy,
            segment_ms=str(SEGMENT_MS),
            min_cleanable_dirty_ratio="0.1",
            delete_retention_ms="200",
            retention_ms="-1",
        )
        self.fake.broker.start_upkeep()
        self.durable: list[Event] = []
        self.staged: list[Event] = []

    def view(self) -> View:
        return View(self.durable + self.staged)

    @rule(steps=st.lists(STEP, min_size=8, max_size=16), apart_ms=st.sampled_from([0, SEGMENT_MS]))
    def work(self, steps: list[tuple[int, bool | None, list[bytes]]], apart_ms: int) -> None:
        for producer_id, committed, keys in steps:
            if producer_id == NOBODY:
                self.append(keys)
            elif committed is None or producer_id not in self.view().open:
                self.append_in_transaction(producer_id, keys)
            else:
                self.end(producer_id, committed, newer=len(keys) > 1)
            if apart_ms:
                self.wait(apart_ms)

    def append(self, keys: list[bytes]) -> None:
        now_ms = self.fake.clock.now_ms()
        rows: list[Record] = [(key, b"v", (), now_ms) for key in keys]
        self.fake.append(record_batch(rows))
        self.staged.append(Event(NOBODY, keys))

    def append_in_transaction(self, producer_id: int, keys: list[bytes]) -> None:
        view = self.view()
        append_in_transaction(
            self.fake, producer_id, view.sequences[producer_id], view.epochs[producer_id], keys
        )
        self.staged.append(Event(producer_id, keys))

    def end(self, producer_id: int, committed: bool, newer: bool) -> None:
        epoch = self.view().epochs[producer_id] + newer
        end_transaction(self.fake, producer_id, committed, epoch)
        self.staged.append(Event(producer_id, [], committed, epoch))

    @rule(fails=st.booleans())
    def commit(self, fails: bool) -> None:
        if fails and self.staged:
            self.fake.commit.fail_next()
            self.staged = []
        self.fake.run()
        self.durable, self.staged = self.durable + self.staged, []

    @rule(snapshot=st.booleans())
    def restart(self, snapshot: bool) -> None:
        if snapshot:
            self.commit(False)
            self.fake.broker.snapshot_all(ignore)
            self.fake.run()
        self.fake, self.staged = self.fake.restarted(), []
        self.fake.broker.start_upkeep()

    @rule(share=SHARE)
    def delete_records(self, share: float) -> None:
        self.commit(False)
        offset = int(self.fake.partition().last_stable_offset * share)
        self.fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, offset)])
        self.fake.run()

    @rule(ms=st.sampled_from([10, SEGMENT_MS + 1, 4 * BACKOFF_MS, 400]))
    def wait(self, ms: int) -> None:
        self.commit(False)
        self.fake.scheduler.advance(ms)

    @invariant()
    def consumers_read_the_committed_records(self) -> None:
        view, partition = View(self.durable), self.fake.partition()
        first, end = partition.log_start_offset, partition.high_watermark
        for start, max_bytes in ((first, 1 << 20), ((first + end) // 2, 200)):
            committed = view.committed(start)
            read = self.consume(start, max_bytes)
            if "compact" in self.policy:
                assert read == sorted(committed.keys() & read)
                newest = {key: offset for offset, key in sorted(committed.items())}
                assert set(newest.values()) <= set(read)
            else:
                assert read == list(committed)

    def consume(self, start: int, max_bytes: int) -> list[int]:
        """As Java's consumer does."""
        found: list[int] = []
        position = start
        while True:
            item = FetchItem("t", bytes(16), 0, position, max_bytes, -1)
            fetched = self.fake.broker.messages.fetch.fetch(FetchQuery([item], 0, 0, 1 << 20, True))
            assert isinstance(fetched, list)
            [one] = fetched
            assert one.error is None
            if not one.records:
                return found
            waiting = sorted(one.aborted, key=lambda each: each.first_offset)
            hidden: set[int] = set()
            for batch in batches_in(one.records):
                while waiting and waiting[0].first_offset <= batch.last_offset:
                    hidden.add(waiting.pop(0).producer_id)
                marker = read_end_marker(batch) if batch.attributes & CONTROL else None
                if marker is not None and not marker.committed:
                    hidden.discard(batch.producer_id)
                is_hidden = batch.attributes & TRANSACTIONAL and batch.producer_id in hidden
                if not is_hidden and not batch.attributes & CONTROL:
                    offsets = [message.offset for message in messages_of(batch)]
                    found += [offset for offset in offsets if offset >= position]
                position = batch.last_offset + 1

    @invariant()
    def the_last_stable_offset_is_that_of_the_model(self) -> None:
        partition, view = self.fake.partition(), View(self.durable)
        assert partition.high_watermark == view.next_offset
        assert partition.last_stable_offset == max(view.stable, partition.log_start_offset)
        staged = {one.producer_id: one.first_offset for one in partition.transactions}
        assert staged == self.view().open


@pytest.mark.parametrize("policy", ["delete", "compact,delete"])
def test_a_partition_with_transactions_is_that_of_the_model(policy: str) -> None:
    machine = type("Machine", (Transactions,), {"policy": policy})
    run_state_machine_as_test(machine, settings=settings(max_examples=20, stateful_step_count=12))
