"""Producers with one transactional id, which crash, retry and race, against what they may rely on.

A new producer gets an id and epoch that no producer had; only the latest one adds and ends; in
version 2 each commit has an epoch of its own, so a retry never ends the next transaction.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from domain.errors import BrokerError
from domain.transactions import decisions
from domain.transactions.states import State
from domain.transactions.transaction import (
    LAST_EPOCH,
    MAX_EPOCH,
    TV_0,
    TV_2,
    ProducerIdAndEpoch,
    Transaction,
)

PLACE: decisions.Added = (frozenset({("t", 0)}), frozenset())
PRODUCERS = st.integers(0, 2)


class Transactions(RuleBasedStateMachine):
    @initialize(
        epoch=st.sampled_from([-1, 3, LAST_EPOCH - 2]), version=st.sampled_from([TV_0, TV_2])
    )
    def begin(self, epoch: int, version: int) -> None:
        self.now = 0
        self.ids = 1
        self.version = version
        self.now_is = Transaction("id", 0, 100, 0, epoch=epoch)
        #: Its latest id and epoch, by producer.
        self.producers: dict[int, ProducerIdAndEpoch] = {}
        self.granted: set[ProducerIdAndEpoch] = set()
        self.committed: set[ProducerIdAndEpoch] = set()

    def new_id(self) -> int:
        self.ids += 1
        return self.ids

    def settle(self) -> None:
        """Markers are written at once."""
        if self.now_is.is_prepared:
            self.now_is = decisions.complete(self.now_is, self.now)

    @rule(number=PRODUCERS, continues=st.booleans(), lost=st.booleans())
    def init(self, number: int, continues: bool, lost: bool) -> None:
        self.now += 1
        expected = self.producers.get(number) if continues else None
        if self.now_is.is_open:
            self.now_is = decisions.fence(self.now_is, self.version, self.now)
            self.settle()
        try:
            after = decisions.init_producer_id(self.now_is, 100, expected, self.new_id(), self.now)
        except BrokerError:
            assert expected is not None and expected != self.now_is.producer
            return
        self.now_is = after
        assert after.epoch <= LAST_EPOCH
        assert after.producer not in self.granted or expected is not None
        self.granted.add(after.producer)
        if not lost:
            self.producers[number] = after.producer

    @rule(number=PRODUCERS)
    def add(self, number: int) -> None:
        self.now += 1
        producer = self.producers.get(number)
        if producer is None:
            return
        try:
            self.now_is = decisions.add(self.now_is, producer, PLACE, self.version, self.now)
        except BrokerError:
            return
        assert producer == self.now_is.producer

    @rule(number=PRODUCERS, committed=st.booleans(), lost=st.booleans())
    def end(self, number: int, committed: bool, lost: bool) -> None:
        self.now += 1
        producer = self.producers.get(number)
        if producer is None:
            return
        before = self.now_is
        try:
            after = decisions.prepare_end(
                before, producer, committed, self.version, self.new_id(), self.now
            )
        except BrokerError:
            assert not (before.is_open and producer == before.producer)
            return
        if after is not None:
            if committed:
                assert before.is_open and producer == before.producer
                assert self.version < TV_2 or producer not in self.committed
                self.committed.add(producer)
            assert producer == before.producer
            self.now_is = after
            self.settle()
            self.granted.add(self.now_is.producer)
        else:
            assert committed == self.now_is.is_committed
        if not lost:
            self.producers[number] = self.now_is.producer if self.version >= TV_2 else producer

    @rule()
    def time_out(self) -> None:
        self.now += 200
        if self.now_is.is_timed_out(self.now):
            self.now_is = decisions.fence(self.now_is, self.version, self.now)
            self.settle()

    @invariant()
    def one_producer_is_current(self) -> None:
        now_is = self.now_is
        assert -1 <= now_is.epoch <= MAX_EPOCH
        assert bool(now_is.partitions) == (now_is.state is State.ONGOING)
        assert now_is.next_producer_id == -1


def test_one_producer_of_a_transactional_id_is_current() -> None:
    run_state_machine_as_test(Transactions, settings=settings(max_examples=150))
