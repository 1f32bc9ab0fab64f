"""A scan on the loop: when a worker process continues it, when it waits or ends."""

from __future__ import annotations

import pytest

from application.background.runner import SLICE_NS
from application.ports.log_store import LogStore
from application.ports.pending import Pending, resolved
from application.records.filter import ALL_RECORDS, RecordFilter
from application.records.plan import ScanEnd, ScanPlan
from application.records.scan_worker import RunningScan, ScanPart
from application.records.sliced import HERE_MS, HERE_MS_IF_IDLE, SlicedScan
from domain.cluster.nodes import Leader
from domain.errors import (
    BrokerError,
    NotLeaderOrFollower,
    StorageFailed,
    UnknownTopicOrPartition,
)
from infrastructure.codecs.compression import BatchCompression
from tests.fakes.batches import TIMESTAMP, ZSTD, record_batch
from tests.fakes.broker import FakeBroker, with_topic
from tests.fakes.results import results_of


class FakeWorkers:
    """The test sets whether one is free; each returns the same part."""

    def __init__(self) -> None:
        self.free = False
        self.has_idle = False
        self.jobs: list[ScanPlan] = []
        self.closed = 0

    def start(self, plan: ScanPlan, log: LogStore) -> RunningScan | None:
        if not self.free:
            return None
        self.jobs.append(plan)
        return self

    def next(self) -> Pending[ScanPart]:
        return resolved(ScanPart(b"rest\n", ScanEnd("end", 1, 10, 0, [])))

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def fake() -> FakeBroker:
    fake = with_topic()
    fake.appended(record_batch(["small"]))
    return fake


@pytest.fixture
def workers() -> FakeWorkers:
    return FakeWorkers()


def scan(
    fake: FakeBroker,
    workers: FakeWorkers | None,
    budget_ms: int | None = None,
    conditions: RecordFilter = ALL_RECORDS,
) -> SlicedScan:
    options = ScanPlan([], conditions, budget_ms=budget_ms)
    plan = fake.broker.messages.browse.plan("t", None, options)
    background = fake.broker.background
    return SlicedScan(plan, fake.log, BatchCompression(), fake.clock, background, workers)


def make_heavy(fake: FakeBroker) -> None:
    fake.appended(record_batch(["0" * 300_000], codec=ZSTD))


def ended(pending: Pending[ScanPart]) -> tuple[bytes, ScanEnd]:
    [part] = results_of(pending)
    assert isinstance(part.end, ScanEnd)
    return part.data, part.end


def test_a_short_scan_needs_no_worker(fake: FakeBroker, workers: FakeWorkers) -> None:
    pending = scan(fake, workers).next()
    assert not pending.resolved
    fake.run()
    data, end = ended(pending)
    assert (data.count(b"\n"), end.reason, end.found) == (1, "end", 1)
    assert workers.jobs == []


def test_a_worker_continues_at_a_large_batch(fake: FakeBroker, workers: FakeWorkers) -> None:
    make_heavy(fake)
    workers.free = True
    pending = scan(fake, workers, budget_ms=500).next()
    fake.run()
    data, end = ended(pending)
    assert data.startswith(b'{"partition_id":0,"offset":0') and data.endswith(b"rest\n")
    assert (end.found, end.scanned) == (2, 11)
    [rest] = workers.jobs
    assert (rest.ranges[0].start, rest.begun, rest.budget_ms) == (1, True, 500)


@pytest.mark.parametrize(("has_idle", "here_ms"), [(False, HERE_MS), (True, HERE_MS_IF_IDLE)])
def test_an_idle_worker_continues_sooner(
    fake: FakeBroker, workers: FakeWorkers, has_idle: bool, here_ms: int
) -> None:
    for _ in range(100):
        fake.appended(record_batch(["small"]))
    fake.clock.look_ns = SLICE_NS
    workers.free, workers.has_idle = True, has_idle
    scan(fake, workers, conditions=RecordFilter(anywhere=b"nowhere")).next()
    for _ in range(here_ms):
        fake.scheduler.run_pass()
        assert not workers.jobs
        fake.clock.advance(1)
    fake.scheduler.run_pass()
    assert workers.jobs


def test_a_scan_waits_for_a_worker_within_its_time(fake: FakeBroker, workers: FakeWorkers) -> None:
    make_heavy(fake)
    first = scan(fake, workers, budget_ms=500).next()
    second = scan(fake, workers).next()
    fake.scheduler.advance(499)
    assert not first.resolved and not second.resolved
    fake.scheduler.advance(10)
    data, end = ended(first)
    assert (data.count(b"\n"), end.reason) == (1, "time")
    assert end.ranges[0].start == 1
    workers.free = True
    fake.scheduler.advance(10)
    assert ended(second)[1].reason == "end"


def test_without_workers_the_loop_scans_everything(fake: FakeBroker) -> None:
    make_heavy(fake)
    running = scan(fake, None)
    found = 0
    while True:
        pending = running.next()
        fake.scheduler.advance(50)
        [part] = results_of(pending)
        found += part.data.count(b"\n")
        if part.end is not None:
            break
    assert found == 2


def test_an_unreadable_log_and_a_stopping_broker_end_a_scan(fake: FakeBroker) -> None:
    fake.log.failing = StorageFailed("the disk is broken")
    pending = scan(fake, None).next()
    fake.run()
    [part] = results_of(pending)
    assert isinstance(part.end, StorageFailed)
    fake.log.failing = None
    fake.broker.background.end()
    pending = scan(fake, None).next()
    [part] = results_of(pending)
    assert isinstance(part.end, StorageFailed) and "stopping" in part.end.message


def test_a_fault_fails_the_scan(
    fake: FakeBroker, workers: FakeWorkers, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(plan: ScanPlan, log: LogStore) -> RunningScan | None:
        raise RuntimeError("a bug")

    make_heavy(fake)
    monkeypatch.setattr(workers, "start", start)
    pending = scan(fake, workers).next()
    fake.run()
    assert isinstance(pending.fault, RuntimeError)


@pytest.mark.parametrize("gone", [UnknownTopicOrPartition, NotLeaderOrFollower])
def test_a_topic_that_is_deleted_or_moves_is_an_error(
    fake: FakeBroker, gone: type[BrokerError]
) -> None:
    browse = fake.broker.messages.browse
    running = browse.scan(browse.plan("t", None, ScanPlan([], ALL_RECORDS)))
    if gone is UnknownTopicOrPartition:
        fake.broker.topics.delete_topics.delete([fake.existing("t")])
    else:
        fake.placement.move(fake.existing("t").partition_ids[0], Leader(2, 1))
    fake.run()
    pending = running.next()
    fake.run()
    [part] = results_of(pending)
    assert type(part.end) is gone and part.data == b""


@pytest.mark.parametrize("call", ["at_timestamp", "headers", "read"])
def test_a_scan_waits_for_the_log(fake: FakeBroker, call: str) -> None:
    fake.appended(record_batch(["late"], timestamp=TIMESTAMP + 1000))
    fake.log.wait_in(call)
    conditions = RecordFilter(start_ms=TIMESTAMP, end_ms=TIMESTAMP + 999)
    pending = scan(fake, None, conditions=conditions).next()
    fake.run()
    assert not pending.resolved
    fake.log.load()
    fake.run()
    data, end = ended(pending)
    assert (end.reason, end.found, data.count(b"small")) == ("end", 1, 1)


def test_a_topic_may_be_deleted_while_a_scan_waits_for_the_log(fake: FakeBroker) -> None:
    fake.log.wait_in("at_timestamp")
    browse = fake.broker.messages.browse
    plan = ScanPlan([], RecordFilter(start_ms=TIMESTAMP))
    pending = browse.scan(browse.plan("t", None, plan)).next()
    fake.run()
    fake.broker.topics.delete_topics.delete([fake.existing("t")])
    fake.run()
    fake.log.load()
    fake.run()
    [part] = results_of(pending)
    assert type(part.end) is UnknownTopicOrPartition and part.data == b""


def test_a_closed_scan_stops(fake: FakeBroker, workers: FakeWorkers) -> None:
    running = scan(fake, workers)
    parts: list[ScanPart] = []
    running.next().then(parts.append)
    running.close()
    fake.run()
    assert parts == []
    make_heavy(fake)
    workers.free = True
    running = scan(fake, workers)
    running.next()
    fake.run()
    running.close()
    assert workers.closed == 1
