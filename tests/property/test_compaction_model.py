"""Compaction with tiny maps, cut passes, new records and unreadable batches, against a model."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from domain.compaction.offset_map import ENTRY_BYTES
from domain.messages.message import Message
from tests.fakes.batches import LZ4, NONE, ZSTD, Record, record_batch
from tests.fakes.compaction import BatchLog, messages_of, run

RETENTION_MS = 10
KEYS = st.sampled_from(["a", "b", "c", "d" * 31, ""])
RECORDS = st.lists(
    st.tuples(
        KEYS.map(lambda key: key or None),
        st.none() | st.text("xy", max_size=3),
        st.just(()),
        st.integers(90, 110),
    ),
    min_size=1,
    max_size=5,
)


class CompactionModel(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.log = BatchLog()
        self.now_ms = 0
        self.dirty = 0
        self.sent: dict[int, Message] = {}
        #: What readers see.
        self.left: list[Message] = []
        self.producers: dict[int, int] = {}
        #: Tombstones, and the time before which they may not go.
        self.horizons: dict[int, int] = {}

    # ---- the log grows

    @rule(
        records=RECORDS,
        codec=st.sampled_from([NONE, LZ4, ZSTD]),
        producer=st.sampled_from([-1, -1, 7]),
        unreadable=st.sampled_from([False] * 7 + [True]),
    )
    def append(self, records: list[Record], codec: int, producer: int, unreadable: bool) -> None:
        fields = {"producer_id": producer, "epoch": 0, "sequence": 0} if producer >= 0 else {}
        self.log.append(record_batch(records, codec=codec, **fields))
        batch = self.log.batches[-1]
        self.left += messages_of(batch)
        self.sent |= {message.offset: message for message in self.left[-len(records) :]}
        if producer >= 0:
            self.producers[producer] = batch.last_offset
        if unreadable:
            self.log.unreadable.add(batch.base_offset)

    @rule(ms=st.integers(1, 12))
    def wait(self, ms: int) -> None:
        self.now_ms += ms

    # ---- and is compacted

    @rule(
        active=st.integers(0, 2),
        entries=st.integers(1, 4),
        steps=st.none() | st.integers(0, 2),
        max_bytes=st.sampled_from([1, 200, 1 << 20]),
    )
    def compact(self, active: int, entries: int, steps: int | None, max_bytes: int) -> None:
        """`active`: batches of the active segment; `steps`: then the pass is cut."""
        end = self.log.next_offset
        if active and self.log.batches:
            end = self.log.batches[-active:][0].base_offset
        if end <= self.dirty:
            return
        cleaner = self.log.cleaner(
            dirty=self.dirty,
            end=end,
            now_ms=self.now_ms,
            delete_retention_ms=RETENTION_MS,
            producers=self.producers,
            map_bytes=entries * ENTRY_BYTES,
        )
        for step in islice(run(self.log, cleaner, max_bytes), steps):
            self.log.replace(step)
        self.left = self.log.messages()
        for message in self.left:
            if message.value is None and message.offset < end:
                self.horizons.setdefault(message.offset, self.now_ms + RETENTION_MS)
        if cleaner.is_done:
            assert cleaner.end_offset > self.dirty
            self.dirty = cleaner.end_offset
            self.check_compacted()

    def check_compacted(self) -> None:
        """Below the end of the pass there is one record of each key, and none without a key."""
        keys = [
            message.key
            for batch in self.log.batches
            if batch.last_offset < self.dirty and batch.base_offset not in self.log.unreadable
            for message in messages_of(batch)
        ]
        assert None not in keys
        assert len(keys) == len(set(keys))

    # ---- what always holds

    @invariant()
    def records_stay_as_they_were_sent(self) -> None:
        assert self.left == [self.sent[message.offset] for message in self.left]
        offsets = [message.offset for message in self.left]
        assert offsets == sorted(offsets)
        for batch in self.log.batches:
            assert batch.base_offset <= batch.last_offset < self.log.next_offset

    @invariant()
    def readers_see_the_last_value_of_each_key(self) -> None:
        assert state_of(self.left) == state_of(self.sent.values())

    @invariant()
    def a_newest_tombstone_stays_for_its_retention(self) -> None:
        left = {message.offset for message in self.left}
        newest = {message.key: message for message in self.sent.values()}
        for message in newest.values():
            if message.key is not None and message.value is None and message.offset not in left:
                assert self.horizons[message.offset] <= self.now_ms

    @invariant()
    def the_log_end_and_the_last_sequences_stay(self) -> None:
        ends = {batch.last_offset for batch in self.log.batches}
        assert not self.sent or self.log.next_offset - 1 in ends
        assert set(self.producers.values()) <= ends


def state_of(messages: Iterable[Message]) -> dict[bytes, bytes]:
    state: dict[bytes, bytes] = {}
    for message in messages:
        if message.key is not None and message.value is None:
            state.pop(message.key, None)
        elif message.key is not None:
            state[message.key] = message.value
    return state


CompactionModel.TestCase.settings = settings(stateful_step_count=20)
TestCompaction = pytest.mark.timeout(600)(CompactionModel.TestCase)  # with --long
