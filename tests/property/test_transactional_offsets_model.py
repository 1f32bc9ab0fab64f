"""Committed offsets beside a model of Kafka's OffsetMetadataManager, which compares the offsets of
records in __consumer_offsets: plain commits, transactions, deletions, failed commits, restarts.
"""

from __future__ import annotations

from copy import deepcopy
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from application.state.runtime import ignore
from tests.fakes.broker import FakeBroker, with_topic
from tests.unit.application.groups.test_transactional_offsets import add, plain_commit

GROUPS, PRODUCERS, PARTITIONS = ("g", "h"), (7, 8, 9), (0, 1)
PLACES = [(group, index) for group in GROUPS for index in PARTITIONS]


class Record(NamedTuple):
    number: int
    offset: int


class KafkaModel:
    def __init__(self) -> None:
        self.committed: dict[tuple[str, int], Record] = {}
        self.pending: dict[int, dict[tuple[str, int], Record]] = {}
        self._records = 0

    def _record(self, offset: int) -> Record:
        self._records += 1
        return Record(self._records, offset)

    def commit(self, place: tuple[str, int], offset: int) -> None:
        self.committed[place] = self._record(offset)

    def add(self, producer_id: int, place: tuple[str, int], offset: int) -> None:
        self.pending.setdefault(producer_id, {})[place] = self._record(offset)

    def end(self, producer_id: int, is_committed: bool) -> None:
        for place, record in self.pending.pop(producer_id, {}).items():
            before = self.committed.get(place)
            if is_committed and (before is None or record.number > before.number):
                self.committed[place] = record

    def delete(self, place: tuple[str, int]) -> None:
        self.committed.pop(place, None)
        for pending in self.pending.values():
            pending.pop(place, None)

    def is_pending(self, place: tuple[str, int]) -> bool:
        return any(place in pending for pending in self.pending.values())


_place = st.sampled_from(PLACES)
_producer = st.sampled_from(PRODUCERS)
_offset = st.integers(0, 99)
STEPS = st.one_of(
    st.tuples(st.just("commit"), _place, _offset),
    st.tuples(st.just("add"), _producer, _place, _offset),
    st.tuples(st.just("end"), _producer, st.booleans()),
    st.tuples(st.just("delete"), _place),
    st.tuples(st.just("clock"), st.integers(-5, 5)),
)
#: The steps of each commit; whether it fails, and whether the broker restarts after it.
PASSES = st.lists(
    st.tuples(
        st.lists(STEPS, min_size=1, max_size=4), st.sampled_from(("", "", "fail", "restart"))
    ),
    max_size=12,
)


def run_step(fake: FakeBroker, model: KafkaModel, step: tuple) -> None:  # type: ignore[type-arg]
    name, *arguments = step
    groups = fake.broker.groups
    if name == "clock":
        fake.clock.jump(*arguments)
    elif name == "commit":
        (group, index), offset = arguments
        plain_commit(fake, offset, group, index)
        model.commit((group, index), offset)
    elif name == "add":
        producer_id, (group, index), offset = arguments
        add(fake, offset, producer_id, index, group)
        model.add(*arguments)
    elif name == "end":
        producer_id, is_committed = arguments
        groups.transactional_offsets.complete(producer_id, GROUPS, is_committed)
        model.end(producer_id, is_committed)
    else:
        ((group, index),) = arguments
        if groups.registry.find(group) is not None:
            found = groups.offset_delete.group(group)
            groups.offset_delete.delete(found, [("t", index)], ignore)
            model.delete((group, index))


def assert_equal(fake: FakeBroker, model: KafkaModel) -> None:
    groups = fake.broker.groups
    for group, index in PLACES:
        found = groups.offsets.of(group).get("t", {}).get(index)
        expected = model.committed.get((group, index))
        assert (found and found.offset) == (expected and expected.offset)
        is_pending = groups.transactional_offsets.is_pending(group, "t", index)
        assert is_pending == model.is_pending((group, index))


@given(PASSES)
def test_offsets_are_those_of_kafka(passes: list) -> None:  # type: ignore[type-arg]
    fake, model = with_topic(len(PARTITIONS)), KafkaModel()
    for steps, outcome in passes:
        before = deepcopy(model) if outcome == "fail" else model
        if outcome == "fail":
            fake.commit.fail_next()
            fake.broker.commits.wait(ignore)  # steps may change nothing
        for step in steps:
            run_step(fake, model, step)
        fake.run()
        if outcome == "fail":
            model = before
        elif outcome == "restart":
            fake = fake.restarted()
        assert_equal(fake, model)
    for producer_id in PRODUCERS:
        run_step(fake, model, ("end", producer_id, True))
    fake.run()
    assert_equal(fake, model)
