"""ScanWorkers: a worker process finds the same records as the loop, on each engine and loop."""

from __future__ import annotations

import asyncio
import errno
import os
import select
import signal
import socket
import subprocess
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from application.background.runner import Runner
from application.records.filter import RecordFilter
from application.records.plan import OffsetRange, ScanEnd, ScanPlan
from application.records.scan_worker import RunningScan, ScanPart
from application.records.sliced import SlicedScan
from domain.errors import BrokerError, StorageFailed
from infrastructure.clock import SystemClock
from infrastructure.codecs.compression import BatchCompression
from infrastructure.opening import open_storage
from infrastructure.scanning import frames, worker_processes
from infrastructure.scanning.worker_processes import WorkerProcesses
from infrastructure.scheduler import AsyncioScheduler
from infrastructure.storage.engine import Storage
from infrastructure.storage.lmdb.folder import LmdbFolder
from tests.fakes.batches import GZIP, TIMESTAMP, ZSTD, record_batch
from tests.fakes.broker import FakeBroker
from tests.fakes.logs import FakeEventLog

BATCHES, EACH = 15, 140
COUNT = BATCHES * EACH

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}


class World:
    def __init__(self, storage: Storage, loop: asyncio.AbstractEventLoop, most: int) -> None:
        self.log = storage.log
        #: True if workers read through this process.
        self.reads_here = storage.info.path is None
        self.events = FakeEventLog()
        self.pool = WorkerProcesses(loop, storage, self.events, most)
        commits = FakeBroker().broker.commits
        self.background = Runner(AsyncioScheduler(loop), SystemClock(), commits)

    def plan(self, form: str = "json", budget_ms: int | None = None, **filters: Any) -> ScanPlan:
        ranges = [OffsetRange(0, 1, 0, COUNT, COUNT)]
        return ScanPlan(ranges, RecordFilter(**filters), form, budget_ms=budget_ms)

    def sliced(self, plan: ScanPlan, workers: WorkerProcesses | None) -> SlicedScan:
        return SlicedScan(
            plan, self.log, BatchCompression(), SystemClock(), self.background, workers
        )


def filled(folder: Path, engine: str) -> Storage:
    place = "" if engine == "memory" else folder / "store"
    storage = open_storage(f"{engine}://{place}", "os")
    for number in range(BATCHES):
        first = number * EACH
        records = [
            (f"key-{at}", f"value {at} " * 50, [("h", b"1")], TIMESTAMP + at)
            for at in range(first, first + EACH)
        ]
        batch = record_batch(records, base_offset=first, codec=(0, GZIP, ZSTD)[number % 3])
        storage.log.append(1, first + EACH - 1, batch, TIMESTAMP + first + EACH - 1)
    storage.commit.commit(lambda failure: None)
    return storage


#: The engine and the loop: each of them once, and all pairs with `--long`.
PAIRS = [
    "memory-asyncio",
    "lmdb-uvloop",
    "files-asyncio",
    pytest.param("memory-uvloop", marks=pytest.mark.long),
    pytest.param("lmdb-asyncio", marks=pytest.mark.long),
]


@pytest.fixture(scope="module", params=PAIRS)
def pair(request: pytest.FixtureRequest) -> list[str]:
    return str(request.param).split("-")


@pytest.fixture(scope="module")
def storage(pair: list[str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    storage = filled(tmp_path_factory.mktemp("scanned"), pair[0])
    yield storage
    storage.commit.close()


@pytest.fixture
def play(pair: list[str], storage: Storage) -> Any:
    def run(story: Callable[[World], Coroutine[Any, Any, None]], most: int = 1) -> None:
        async def main() -> None:
            world = World(storage, asyncio.get_running_loop(), most)
            try:
                await asyncio.wait_for(story(world), 30)
            finally:
                world.pool.close()

        with asyncio.Runner(loop_factory=LOOPS[pair[1]]) as runner:
            runner.run(main())

    return run


async def part_of(scan: RunningScan) -> ScanPart:
    future: asyncio.Future[ScanPart] = asyncio.get_running_loop().create_future()
    scan.next().then(future.set_result)
    return await future


async def all_of(scan: RunningScan | None) -> tuple[bytes, ScanEnd | BrokerError]:
    assert scan is not None
    data = b""
    while True:
        part = await part_of(scan)
        data += part.data
        if part.end is not None:
            return data, part.end


@pytest.mark.parametrize("form", ["json", "csv"])
def test_a_worker_finds_the_same_records_as_the_broker(play: Any, form: str) -> None:
    async def story(world: World) -> None:
        here, _ = await all_of(world.sliced(world.plan(form), None))
        there, end = await all_of(world.pool.start(world.plan(form), world.log))
        both, whole = await all_of(world.sliced(world.plan(form), world.pool))
        assert here == there == both
        assert here.count(b"\n") == COUNT + (form == "csv")
        for one in (end, whole):
            assert isinstance(one, ScanEnd)
            assert (one.reason, one.found, one.scanned) == ("end", COUNT, COUNT)

    play(story)


def test_timestamps_lead_to_the_right_offset(play: Any) -> None:
    async def story(world: World) -> None:
        plan = world.plan(start_ms=TIMESTAMP + 2_000, end_ms=TIMESTAMP + 2_004)
        data, end = await all_of(world.pool.start(plan, world.log))
        assert data.count(b"\n") == 5
        assert isinstance(end, ScanEnd) and end.scanned <= 2 * EACH

    play(story)


def test_a_worker_waits_for_a_slow_reader(play: Any) -> None:
    async def story(world: World) -> None:
        scan = world.pool.start(world.plan(), world.log)
        assert scan is not None
        part = await part_of(scan)
        for _ in range(20):
            await asyncio.sleep(0.01)
        assert len(scan._data) < 1 << 20  # type: ignore[attr-defined]
        rest, end = await all_of(scan)
        assert (part.data + rest).count(b"\n") == COUNT
        assert isinstance(end, ScanEnd)

    play(story)


def test_unread_output_of_a_finished_scan_does_not_disturb_the_next_scan(
    play: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its records and its end arrive in one read, above the limit of buffered bytes."""
    monkeypatch.setattr(worker_processes, "BUFFERED_BYTES", 1)

    def is_done(ours: socket.socket) -> bool:
        data = ours.recv(1 << 20, socket.MSG_PEEK)
        while data:
            kind, length = frames.HEAD.unpack_from(data)
            if kind == frames.END:
                return True
            data = data[frames.HEAD.size + length :]
        return False

    async def story(world: World) -> None:
        plan = world.plan(start_ms=TIMESTAMP + COUNT - 5)
        await all_of(world.pool.start(plan, world.log))
        first = world.pool.start(plan, world.log)
        [process] = world.pool._processes
        ours = process._ours
        while not world.reads_here and (
            not select.select([ours], [], [], 30)[0] or not is_done(ours)
        ):
            pass
        while first._end is None and process._reads:  # type: ignore[union-attr]
            await asyncio.sleep(0)
        assert (await all_of(first))[0].count(b"\n") == 5
        data, _ = await all_of(world.pool.start(world.plan(), world.log))
        assert data.count(b"\n") == COUNT

    play(story)


def test_a_busy_pool_has_no_worker_and_an_idle_worker_is_reused(play: Any) -> None:
    async def story(world: World) -> None:
        first = world.pool.start(world.plan(), world.log)
        assert world.pool.start(world.plan(), world.log) is None
        await all_of(first)
        pids = world.pool.pids
        await all_of(world.pool.start(world.plan(), world.log))
        assert world.pool.pids == pids

    play(story)


def test_long_scans_leave_one_worker_free(play: Any) -> None:
    async def story(world: World) -> None:
        first = world.pool.start(world.plan(), world.log)
        assert first is not None
        assert world.pool.start(world.plan(), world.log) is None
        page = world.pool.start(world.plan(budget_ms=60_000), world.log)
        _, end = await all_of(page)
        assert isinstance(end, ScanEnd) and end.found == COUNT
        assert world.pool.start(world.plan(), world.log) is None
        await all_of(first)
        second = world.pool.start(world.plan(), world.log)
        assert second is not None
        await all_of(second)

    play(story, most=2)


def test_more_scans_than_workers_find_the_same_records(play: Any) -> None:
    """The second scan continues here, and in the worker after the first one."""

    async def story(world: World) -> None:
        scans = [all_of(world.sliced(world.plan("csv"), world.pool)) for _ in range(3)]
        first, *others = await asyncio.gather(*scans)
        assert first[0].count(b"\n") == COUNT + 1
        assert all(data == first[0] for data, _ in others)

    play(story)


def test_an_abandoned_scan_ends_with_its_process(play: Any) -> None:
    async def story(world: World) -> None:
        scan = world.pool.start(world.plan(), world.log)
        assert scan is not None
        scan.close()
        assert world.pool.pids == []
        _, end = await all_of(world.pool.start(world.plan(), world.log))
        assert isinstance(end, ScanEnd)

    play(story)


def test_a_dead_process_is_reported(play: Any) -> None:
    async def story(world: World) -> None:
        scan = world.pool.start(world.plan(), world.log)
        [pid] = world.pool.pids
        os.kill(pid, signal.SIGKILL)
        _, end = await all_of(scan)
        assert isinstance(end, StorageFailed)
        assert world.pool.pids == []

    play(story)


@pytest.mark.parametrize("of, what", [(socket, "socketpair"), (subprocess, "Popen")])
def test_without_a_process_there_is_no_worker(
    play: Any, monkeypatch: pytest.MonkeyPatch, of: Any, what: str
) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    async def story(world: World) -> None:
        plan = world.plan()
        with monkeypatch.context() as patched:
            patched.setattr(of, what, refused)
            for _ in range(2):
                assert world.pool.start(plan, world.log) is None
        [warned] = world.events.of("scan_worker_failed")
        assert "Too many open files" in str(warned["error"])
        _, end = await all_of(world.sliced(plan, world.pool))
        assert isinstance(end, ScanEnd) and end.found == COUNT

    play(story)


def test_a_time_budget_ends_a_scan_in_between(play: Any) -> None:
    async def story(world: World) -> None:
        plan = world.plan(budget_ms=1, in_key=b"value")
        _, end = await all_of(world.pool.start(plan, world.log))
        assert isinstance(end, ScanEnd)
        assert (end.reason, end.found) == ("time", 0)
        assert 0 < end.ranges[0].start < COUNT

    play(story)


def test_a_store_with_a_grown_map_is_read(tmp_path: Path) -> None:
    """More than LMDB maps by default."""
    storage = open_storage(f"lmdb://{tmp_path}/store", "os")
    for offset in range(100):
        batch = record_batch(["x" * 200_000], base_offset=offset)
        storage.log.append(1, offset, batch)
    storage.commit.commit(lambda failure: None)
    storage.commit.close()  # LMDB opens a store once in a process
    reading = LmdbFolder(tmp_path / "store").open_log()
    assert reading.read(1, 99, 100, 0, True) == batch
    assert len(reading.headers(1, 0, 1000)) == 100
    reading._env.close()


def test_a_missing_store_fails(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="there is no store"):
        LmdbFolder(tmp_path).open_log()
