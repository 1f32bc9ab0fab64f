"""A follower reads while the leader appends, compacts, trims and seals.

Each answer is a state of the log that was committed between the request and the response.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pytest

from application.ports.sealed_log import SealedRecords
from tests.contract.batches import batch
from tests.contract.joined_brokers import JoinedBrokers
from tests.contract.postgres_server import running_postgres
from tests.contract.s3_objects import Objects
from tests.contract.sealed_logs import P, aborted, sealed_log, snapshot
from tests.contract.test_postgresql_objects_brokers import settle

pytestmark = pytest.mark.usefixtures("at_once", "s3")

STEPS, FETCHES, FILLED = 60, 3, 60
CHANGES = ["append", "append", "append", "replace", "replace", "delete", "trim"]


class State(NamedTuple):
    #: By offset.
    batches: dict[int, bytes]
    start: int
    end: int
    #: Of the newest snapshot.
    stable: int
    #: Offsets of markers.
    aborted: frozenset[int]

    def has(self, offset: int, found: SealedRecords) -> bool:
        wanted = [one for one in sorted(self.batches) if one >= offset]
        count = len(bytes(found.records)) // len(batch(0, b"0000"))
        served = wanted[:count]
        return (
            0 < count <= len(wanted)
            and offset >= self.start
            and served[-1] < self.stable
            and bytes(found.records) == b"".join(self.batches[one] for one in served)
            and (found.log_start_offset, found.last_stable_offset) == (self.start, self.stable)
            and {one.last_offset for one in found.aborted}
            == {one for one in self.aborted if offset <= one <= served[-1]}
        )


class Race:
    def __init__(self, cluster: JoinedBrokers, seed: int) -> None:
        self.random = Random(seed)
        self.leader, self.follower = cluster.join(1), cluster.join(2)
        self.leader.lead(P, 1)
        assert self.leader.commit() is None
        self.state = State({}, 0, 0, 0, frozenset())
        self.written = self.served = 0
        while self.written < FILLED:
            self.state = self.stage("append")
            snapshot(self.leader, self.state.end)
            self.state = self.state._replace(stable=self.state.end)
            assert self.leader.commit() is None
        settle(self.leader)

    def new(self, offset: int) -> bytes:
        self.written += 1
        return batch(offset, b"%04d" % self.written)

    def stage(self, change: str) -> State:
        leader, random, state = self.leader, self.random, self.state
        batches, start, end, stable, markers = state
        batches = dict(batches)
        old = [one for one in batches if start <= one < end - 1]
        if change == "append" or not old:
            for _ in range(random.randint(1, 4)):
                batches[end] = self.new(end)
                leader.storage.log.append(P, end, batches[end])
                end += 1
            if random.random() < 0.5:
                aborted(leader, end - 1, 9, end - 1, end)
                markers |= {end - 1}
        elif change == "replace":
            offset = random.choice(old)
            batches[offset] = self.new(offset)
            changed = [batches[offset]]
            leader.patiently(lambda: leader.storage.log.replace(P, offset, offset, changed, []))
        elif change == "delete":
            start = min(random.choices(old, k=4))
        else:
            leader.patiently(lambda: leader.storage.log.trim(P, start, 100))
            batches = {one: data for one, data in batches.items() if one >= start}
        if change == "delete" or random.random() < 0.5:
            snapshot(leader, end, start)
            stable = end
        return State(batches, start, end, stable, markers)

    def step(self) -> None:
        before, after = self.state, self.stage(self.random.choice(CHANGES))
        outcomes = self.leader.begin()
        fetches = [self.fetch(after.end) for _ in range(FETCHES)]
        self.leader.run_until(lambda: outcomes and all(found for _, found in fetches))
        assert outcomes == [None]
        self.state = after
        for offset, [answer] in fetches:
            if answer is not None:
                self.served += 1
                assert before.has(offset, answer) or after.has(offset, answer), (offset, answer)
        if self.random.random() < 0.5:
            settle(self.leader)

    def fetch(self, end: int) -> tuple[int, list[SealedRecords | None]]:
        offset, found = self.random.randrange(end + 1), []
        most = self.random.choice([1, 200, 1 << 20])
        sealed_log(self.follower).fetch(P, offset, most, True).then(found.append)
        return offset, found


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("tail_bytes", [1, 1200])
def test_an_answer_is_a_committed_state_of_the_log(
    objects: Objects, tail_bytes: int, seed: int
) -> None:
    """With an entry in each object, and with several."""
    more = f"{objects.url}&local.bytes=0&delete.delay.ms=0"
    cluster = JoinedBrokers(running_postgres(), tail_bytes=tail_bytes, more=more)
    race = Race(cluster, seed)
    for _ in range(STEPS):
        race.step()
    assert race.served > STEPS // 3
    cluster.close()
