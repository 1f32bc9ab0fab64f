"""A partition over appends, retries, slow and failing commits and restarts, against a model."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from domain.errors import BrokerError, InvalidProducerEpoch, OutOfOrderSequence
from domain.messages.batch import MAX_SEQUENCE, RecordBatch
from tests.fakes.batches import record_batch
from tests.fakes.broker import FakeBroker

PRODUCERS = (1, 2)
NOBODY = -1


class Batch:
    def __init__(self, producer: int, epoch: int, sequence: int, count: int) -> None:
        self.producer = producer
        self.epoch = epoch
        self.sequence = sequence
        self.count = count

    @property
    def next_sequence(self) -> int:
        return (self.sequence + self.count) % (MAX_SEQUENCE + 1)


SEQUENCES = MAX_SEQUENCE + 1


class Model:
    """Three lists: durable batches, those of the pending commit, and those staged after it."""

    def __init__(self) -> None:
        self.durable: list[Batch] = []
        self.under_way: list[Batch] = []
        self.gathering: list[Batch] = []
        #: Producers without a durable batch: the epoch and sequence they must start with.
        self.lost: dict[int, tuple[int, int]] = {}

    @property
    def all(self) -> list[Batch]:
        return self.durable + self.under_way + self.gathering

    def fail(self) -> None:
        """The pending commit fails, with everything staged after it."""
        for producer in {one.producer for one in self.under_way + self.gathering} - {NOBODY}:
            mine = [one for one in self.all if one.producer == producer]
            remembered = [one for one in mine if one.epoch == mine[-1].epoch][-5:]
            if not any(one.producer == producer for one in self.durable):
                self.lost[producer] = mine[-1].epoch, remembered[0].sequence
        self.under_way, self.gathering = [], []

    def append(self, batch: Batch) -> int | type[BrokerError]:
        """The offset, that of the first try, or the error."""
        mine = [one for one in self.all if one.producer == batch.producer != NOBODY]
        if mine:
            newest = mine[-1]
            if batch.epoch < newest.epoch:
                return InvalidProducerEpoch
            if batch.epoch > newest.epoch and batch.sequence != 0:
                return OutOfOrderSequence
            if batch.epoch == newest.epoch:
                for one in [one for one in mine if one.epoch == batch.epoch][-5:]:
                    if (one.sequence, one.count) == (batch.sequence, batch.count):
                        return size(self.all[: self.all.index(one)])
                if batch.sequence != newest.next_sequence:
                    return OutOfOrderSequence
        elif batch.producer in self.lost:
            epoch, first = self.lost[batch.producer]
            if (
                epoch == batch.epoch
                and 0 < (batch.sequence - first) % SEQUENCES <= MAX_SEQUENCE // 2
            ):
                return OutOfOrderSequence
            del self.lost[batch.producer]
        offset = size(self.all)
        self.gathering.append(batch)
        return offset


def size(batches: list[Batch]) -> int:
    return sum(one.count for one in batches)


class PartitionMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.fake = FakeBroker()
        self.fake.topic("t")
        self.model = Model()

    def send(self, batch: Batch) -> None:
        data = record_batch(
            ["x"] * batch.count,
            producer_id=batch.producer,
            epoch=batch.epoch,
            sequence=batch.sequence,
        )
        expected = self.model.append(batch)
        outcome = self.fake.append(data)
        got = type(outcome) if isinstance(outcome, BrokerError) else outcome.base_offset
        assert got == expected

    @rule(count=st.integers(1, 3))
    def append(self, count: int) -> None:
        self.send(Batch(NOBODY, -1, -1, count))

    @rule(
        producer=st.sampled_from(PRODUCERS),
        newer=st.sampled_from([0, 0, 0, 1, -1]),
        sequence=st.one_of(st.none(), st.none(), st.sampled_from([0, 1, MAX_SEQUENCE - 1])),
        count=st.integers(1, 3),
    )
    def append_idempotently(
        self, producer: int, newer: int, sequence: int | None, count: int
    ) -> None:
        """Mostly the next sequence."""
        mine = [one for one in self.model.all if one.producer == producer]
        epoch = max((mine[-1].epoch if mine else 1) + newer, 0)
        if sequence is None:
            sequence = mine[-1].next_sequence if mine and not newer else 0
        self.send(Batch(producer, epoch, sequence, count))

    @precondition(lambda self: any(one.producer != NOBODY for one in self.model.all))
    @rule(data=st.data())
    def retry(self, data: st.DataObject) -> None:
        mine = [one for one in self.model.all if one.producer != NOBODY]
        one = data.draw(st.sampled_from(mine[-8:]))
        self.send(Batch(one.producer, one.epoch, one.sequence, one.count))

    @precondition(lambda self: not self.fake.commit.under_way)
    @rule(fails=st.booleans())
    def commit(self, fails: bool) -> None:
        self.fake.commit.holding = False
        if fails and self.model.gathering:
            self.fake.commit.fail_next()
        self.fake.run()
        if fails:
            self.model.fail()
        self.model.durable += self.model.gathering
        self.model.gathering = []

    @precondition(lambda self: not self.fake.commit.under_way)
    @rule()
    def begin_commit(self) -> None:
        self.fake.commit.hold()
        self.fake.run()
        self.model.under_way, self.model.gathering = self.model.gathering, []

    @precondition(lambda self: self.fake.commit.under_way)
    @rule(fails=st.booleans())
    def end_commit(self, fails: bool) -> None:
        model = self.model
        if fails:
            self.fake.commit.let_fail()
            model.fail()
        else:
            self.fake.commit.let_go()
            model.durable += model.under_way + model.gathering
        self.fake.run()
        model.under_way, model.gathering = [], []

    @rule(snapshot=st.booleans())
    def restart(self, snapshot: bool) -> None:
        if snapshot and not self.fake.commit.under_way:
            self.commit(False)
            self.fake.broker.snapshot_all(lambda failure: None)
            self.fake.run()
        self.fake = self.fake.restarted()
        self.model.under_way, self.model.gathering, self.model.lost = [], [], {}

    @invariant()
    def the_log_is_the_models(self) -> None:
        partition = self.fake.partition()
        assert partition.end.next_offset == size(self.model.all)
        assert partition.high_watermark == size(self.model.durable)
        stored = memoryview(self.fake.stored())
        offset = 0
        for expected in self.model.durable:
            batch = RecordBatch(stored)
            assert (batch.base_offset, batch.count) == (offset, expected.count)
            assert (batch.producer_id, batch.base_sequence) == (
                expected.producer, expected.sequence
            )  # fmt: skip
            offset += expected.count
            stored = stored[batch.size_bytes :]
        assert not stored


PartitionMachine.TestCase.settings = settings(stateful_step_count=30)
TestPartition = pytest.mark.timeout(600)(PartitionMachine.TestCase)  # with --long
