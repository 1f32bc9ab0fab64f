"""A raw stream against the list of its records, while everything happens to its partition: raw and
Kafka producers, transactions, slow and failed commits, deletions, compaction, restarts.

The model learns the records from the log and the positions from the index, each once: later they
must be the same. Positions have no gaps, those of producers are durable, and a consumer gets the
records that are left, from any position on.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from application.background.runner import LONGEST_RETRY_MS
from application.partitions.delete_records import RecordsToDelete
from application.ports.request_log import Requester
from application.streams import blocks, stream
from application.streams.stream import InvalidStart, RawStream
from domain.errors import BrokerError
from domain.messages.batch import CONTROL, batches_in
from domain.security.principal import ANONYMOUS
from domain.streams.chunk import Chunk
from tests.fakes.batches import GZIP, LZ4, NONE, ZSTD, Record, record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.compaction import compact, messages_of
from tests.fakes.transactions import append_in_transaction, end_transaction

SIZES = st.lists(st.sampled_from([0, 0, 1, 5, 70, 300]), min_size=1, max_size=5)
ALIKE = st.tuples(st.integers(20, 70), st.sampled_from([1, 5])).map(lambda n: [n[1]] * n[0])
KEYS = st.lists(st.sampled_from([None, b"a", b"b", b"c"]), min_size=1, max_size=5)
LENGTH = struct.Struct(">I")
BY = Requester(ANONYMOUS, None, "192.0.2.7:40001")


class FakeProducer:
    """Checks that each staged batch gets its positions in order, all durable, or an error."""

    def __init__(self, machine: StreamMachine) -> None:
        self.machine = machine
        self.staged_counts: list[int] = []
        #: The values that have no position yet.
        self.values: list[bytes] = []

    def staged(self, count: int) -> None:
        self.staged_counts.append(count)

    def placed(self, count: int, positions: Sequence[int] | BrokerError) -> None:
        assert self.staged_counts.pop(0) == count
        values, self.values = self.values[:count], self.values[count:]
        if isinstance(positions, BrokerError):
            return
        self.machine.learn()
        assert len(positions) == count
        for position, value in zip(positions, values, strict=True):
            offset = self.machine.offsets.get(position)
            assert offset is not None, f"{position} is not durable"
            assert self.machine.values[offset] == value


class FakeFollower:
    def __init__(self) -> None:
        self.calls = 0

    def advanced(self) -> None:
        self.calls += 1


class StreamMachine(RuleBasedStateMachine):
    reset: str

    @initialize()
    def open(self) -> None:
        self.fake = FakeBroker(
            raw_listeners="127.0.0.1:0", raw_topic="t", raw_auto_offset_reset=self.reset
        )
        self.fake.topic("t")
        self.number = 0
        #: Of every record that was ever committed; those of markers are not there.
        self.values: dict[int, bytes] = {}
        #: By offset, and by position.
        self.positions: dict[int, int] = {}
        self.offsets: dict[int, int] = {}
        self.begin()

    def begin(self) -> None:
        self.producers = [FakeProducer(self), FakeProducer(self)]
        self.followers: list[FakeFollower] = []
        self.transaction: int | None = None

    @property
    def stream(self) -> RawStream:
        assert self.fake.broker.streams is not None
        return self.fake.broker.streams.open(BY)

    # ---- what the model knows

    def learn(self) -> None:
        for offset, value in self.live(0).items():
            assert self.values.setdefault(offset, value) == value
        before: Chunk | None = None
        for chunk in self.chunks():
            assert before is None or (chunk.start, True) == (
                before.end,
                chunk.first_offset >= before.next_offset,
            )
            before = chunk
            for index, position in enumerate(chunk.positions()):
                offset = chunk.first_offset + index
                assert len(self.values[offset]) == chunk.sizes[index]
                assert self.positions.setdefault(offset, position) == position
                assert self.offsets.setdefault(position, offset) == offset

    def live(self, first: int) -> dict[int, bytes]:
        """The records that the log has from an offset on."""
        batches = [one for one in batches_in(self.fake.stored()) if not one.attributes & CONTROL]
        found = [each for one in batches for each in messages_of(one)]
        return {each.offset: each.value or b"" for each in found if each.offset >= first}

    def chunks(self) -> list[Chunk]:
        index, partition_id = self.fake.core.stream_index, self.fake.partition().partition_id
        found: list[Chunk] = []
        while chunk := index.above(partition_id, found[-1].end if found else 0):
            found.append(chunk)
        assert index.newest(partition_id) == (found[-1] if found else None)
        return found

    # ---- producers

    def next_values(self, sizes: list[int]) -> list[bytes]:
        """All different, so that each has one place."""
        values = []
        for size in sizes:
            self.number += 1
            values.append(b"%06d" % self.number + bytes(size))
        return values

    def run(self, now: bool) -> None:
        """Ends the pass; otherwise more happens in it."""
        if now and not self.fake.commit.under_way:
            self.fake.run()

    @rule(sizes=st.one_of(SIZES, ALIKE), who=st.integers(0, 1), now=st.booleans())
    def append(self, sizes: list[int], who: int, now: bool) -> None:
        values, producer = self.next_values(sizes), self.producers[who]
        self.stream.append(values, producer)
        producer.values += values
        self.run(now)

    @rule(
        keys=KEYS,
        sizes=SIZES,
        codec=st.sampled_from([NONE, NONE, GZIP, LZ4, ZSTD]),
        now=st.booleans(),
    )
    def append_by_kafka(
        self, keys: list[bytes | None], sizes: list[int], codec: int, now: bool
    ) -> None:
        now_ms = self.fake.clock.now_ms()
        rows: list[Record] = [
            (key, b"v" * size if size != 1 else None, [("h", None)] if size == 5 else (), now_ms)
            for key, size in zip(keys, sizes, strict=False)
        ]
        assert not isinstance(self.fake.append(record_batch(rows, codec=codec)), BrokerError)
        self.run(now)

    @precondition(lambda self: not self.fake.commit.under_way)
    @rule(marker=st.sampled_from(["committed", "aborted", "none"]))
    def append_in_a_transaction(self, marker: str) -> None:
        self.number += 1
        producer_id = 1000 + self.number
        offset = append_in_transaction(self.fake, producer_id, keys=[b"a", None])
        self.commit(False)
        if marker != "none" and self.fake.partition().high_watermark > offset:
            end_transaction(self.fake, producer_id, marker == "committed")

    # ---- commits

    @precondition(lambda self: not self.fake.commit.under_way)
    @rule(fails=st.sampled_from([False, False, True]))
    def commit(self, fails: bool) -> None:
        self.fake.commit.holding = False
        if fails:
            self.fake.commit.fail_next()
        self.fake.run()

    @precondition(lambda self: not self.fake.commit.under_way)
    @rule()
    def begin_commit(self) -> None:
        self.fake.commit.hold()
        self.fake.run()

    @precondition(lambda self: self.fake.commit.under_way)
    @rule(fails=st.booleans())
    def end_commit(self, fails: bool) -> None:
        if fails:
            self.fake.commit.let_fail()
        else:
            self.fake.commit.let_go()
        self.fake.run()

    @precondition(lambda self: not self.fake.commit.under_way)
    @rule(ms=st.sampled_from([1, 10, LONGEST_RETRY_MS]))
    def wait(self, ms: int) -> None:
        self.fake.scheduler.advance(ms)

    # ---- what removes records

    @rule(left=st.integers(0, 3), inside=st.sampled_from([0, 0, 1, -1, 100]), trims=st.booleans())
    def delete_records(self, left: int, inside: int, trims: bool) -> None:
        """All but a few batches."""
        high_watermark = self.fake.partition().high_watermark
        bases = [one.base_offset for one in batches_in(self.fake.stored())] + [high_watermark]
        offset = min(max(bases[-left - 1 :][0] + inside, 0), high_watermark)
        self.fake.broker.messages.delete_records.delete([RecordsToDelete("t", 0, offset)])
        self.run(True)
        if trims and not self.fake.commit.under_way:
            self.fake.scheduler.advance(10)

    @precondition(lambda self: not self.fake.commit.under_way)
    @rule()
    def compaction(self) -> None:
        self.settle()
        self.learn()
        compact(self.fake, self.fake.partition().high_watermark)

    @rule()
    def restart(self) -> None:
        self.fake = self.fake.restarted()
        self.begin()

    # ---- consumers

    @rule()
    def follow(self) -> None:
        follower = FakeFollower()
        self.followers.append(follower)
        self.stream.follow(follower)

    @rule()
    def unfollow(self) -> None:
        if self.followers:
            self.stream.unfollow(self.followers.pop())

    @rule(share=st.floats(0, 1), beside=st.sampled_from([0, 0, 0, 0, 1, -1, 3]))
    def consume(self, share: float, beside: int) -> None:
        """From any position that was ever one, or beside it."""
        self.learn()
        chunks = self.chunks()
        end = chunks[-1].end if chunks else 0
        known = [*sorted(self.offsets), end]
        position = max(known[round(share * (len(known) - 1))] + beside, 0)
        durable = self.stream._durable
        assert durable.position == end
        log_start = self.fake.partition().log_start_offset
        try:
            offset = self.stream.locate(position)
        except InvalidStart:
            self.check_refused(position, end, log_start)
            return
        if offset is None:
            assert position > end
            assert durable.offset < self.fake.partition().high_watermark
            return
        assert position <= end
        if self.reset == "none" and position < end:
            assert self.offsets[position] >= log_start
        if position in self.offsets:
            assert offset == max(self.offsets[position], log_start)
        elif position < end:
            assert position < chunks[0].start, "within a record"
            assert offset == log_start
        self.check_read(offset, log_start)

    def check_refused(self, position: int, end: int, log_start: int) -> None:
        if position < end and position in self.offsets:
            assert self.reset == "none" and self.offsets[position] < log_start
        elif position == end:
            assert self.reset == "none" and self.stream._durable.offset < log_start
        elif position > end:
            assert self.stream._durable.offset >= self.fake.partition().high_watermark

    def check_read(self, offset: int, log_start: int) -> None:
        first, end, data = max(offset, log_start), self.stream._durable.offset, b""
        while offset < end:
            block = self.stream.read(offset)
            assert block.next_offset > offset
            offset, data = block.next_offset, data + b"".join(block.pieces)
        left = [value for at, value in sorted(self.live(first).items()) if at < end]
        assert read_back(data) == left

    # ---- what always holds

    @invariant()
    def positions_stay(self) -> None:
        if hasattr(self, "fake"):
            self.learn()
            self.no_record_is_left_out()

    def no_record_is_left_out(self) -> None:
        chunks = self.chunks()
        if chunks:
            live = self.live(self.fake.partition().log_start_offset)
            there = {at for at in live if at < chunks[-1].next_offset}
            indexed = {at for one in chunks for at in range(one.first_offset, one.next_offset)}
            assert there - indexed <= set(range(chunks[0].first_offset))

    def settle(self) -> None:
        """No commit fails any more, and all waiting work is done."""
        self.fake.commit.failures.clear()
        if self.fake.commit.under_way:
            self.fake.commit.let_go()
        self.fake.commit.holding = False
        self.fake.scheduler.advance(2 * LONGEST_RETRY_MS)

    def teardown(self) -> None:
        if not hasattr(self, "fake"):
            return
        self.settle()
        assert not any(one.staged_counts for one in self.producers), "no response"
        assert not self.stream._appended
        follower = FakeFollower()
        self.stream.follow(follower)
        self.settle()
        self.learn()
        partition = self.fake.partition()
        assert self.stream._durable == self.stream._staged
        assert self.stream._durable.offset >= partition.high_watermark
        self.check_read(partition.log_start_offset, partition.log_start_offset)
        assert all(one.calls <= 1 for one in [*self.followers, follower])


def read_back(data: bytes) -> list[bytes]:
    values, at = [], 0
    while at < len(data):
        (size,) = LENGTH.unpack_from(data, at)
        at += LENGTH.size + size
        values.append(data[at - size : at])
    assert at == len(data)
    return values


@pytest.mark.parametrize("reset", ["earliest", "none"])
@pytest.mark.parametrize("cached", [True, False])
def test_a_stream_has_the_records_of_its_log_at_positions_that_stay(
    reset: str, cached: bool
) -> None:
    machine = type("Machine", (StreamMachine,), {"reset": reset})
    # Small, so that indexing and reading take several steps.
    with (
        patch.object(stream, "INDEX_BYTES", 300),
        patch.object(stream, "READ_BYTES", 500),
        patch.object(blocks, "MOST_BYTES", 8 << 20 if cached else 0),
    ):
        # With --long twenty times as many.
        examples = settings().max_examples // 4
        run_state_machine_as_test(
            machine, settings=settings(max_examples=examples, stateful_step_count=30)
        )
