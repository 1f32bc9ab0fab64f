"""A worker process compacts a log as the loop does; each notices the end of the other."""

from __future__ import annotations

import asyncio
import os
import signal
import struct
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from application.background.worker import RunningWork, WorkerPart
from application.partitions.cleaning import (
    CleaningEnd,
    CleaningJob,
    decode_replacements,
    make_codecs,
)
from domain.compaction.cleaner import Cleaner, CleaningPlan, Replacement
from domain.errors import StorageFailed
from infrastructure.codecs.checksum import crc32c
from infrastructure.codecs.compression import BatchCompression
from infrastructure.opening import open_storage
from infrastructure.scanning import cleaning
from infrastructure.scanning.worker_processes import WorkerProcesses
from infrastructure.storage.engine import Storage
from tests.fakes.batches import GZIP, NONE, ZSTD, record_batch
from tests.fakes.clock import FakeClock
from tests.fakes.logs import FakeEventLog

BATCHES, EACH = 60, 50
END = BATCHES * EACH
READ_BYTES = 20_000


@pytest.fixture(scope="module", params=["lmdb", "files"])
def storage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Keys occur several times, and batches have several codecs."""
    storage = open_storage(f"{request.param}://{tmp_path_factory.mktemp('cleaned')}/store", "os")
    for number in range(BATCHES):
        first = number * EACH
        rows = [
            (f"{at * at % 700}", f"value {at} " * 20, (), 1000 + at)
            for at in range(first, first + EACH)
        ]
        batch = record_batch(rows, codec=(NONE, GZIP, ZSTD)[number % 3])
        struct.pack_into(">q", batch, 0, first)
        storage.log.append(1, first + EACH - 1, batch, 1000 + first)
    storage.commit.commit(lambda failure: None)
    yield storage
    storage.commit.close()


def job(max_bytes_per_second: float = 1e18, is_urgent: bool = False) -> CleaningJob:
    plan = CleaningPlan(0, 0, END, 0, 0, {}, 1 << 20)
    return CleaningJob(1, plan, READ_BYTES, max_bytes_per_second, is_urgent=is_urgent)


def play(storage: Storage, story: Callable[[WorkerProcesses], Coroutine[Any, Any, None]]) -> None:
    async def main() -> None:
        pool = WorkerProcesses(asyncio.get_running_loop(), storage, FakeEventLog(), most=1)
        try:
            await asyncio.wait_for(story(pool), 30)
        finally:
            pool.close()

    asyncio.run(main())


async def part_of(work: RunningWork[CleaningEnd]) -> WorkerPart[CleaningEnd]:
    future: asyncio.Future[WorkerPart[CleaningEnd]] = asyncio.get_running_loop().create_future()
    work.next().then(future.set_result)
    return await future


def cleaned_here(storage: Storage) -> tuple[list[Replacement], CleaningEnd]:
    cleaner = Cleaner(job().plan, make_codecs(BatchCompression(), crc32c))
    found = []
    while not cleaner.is_done:
        data = storage.log.read(1, cleaner.position, cleaner.end_offset, READ_BYTES, True)
        replacement = cleaner.advance(data)
        if replacement is not None:
            found.append(replacement)
    return found, CleaningEnd(cleaner.stats, cleaner.end_offset)


def test_a_worker_replaces_the_same_batches_as_the_loop(storage: Storage) -> None:
    async def story(pool: WorkerProcesses) -> None:
        for _ in range(2):
            work = pool.start(job(), storage.log)
            assert work is not None
            found, end = [], None
            while end is None:
                data, end = await part_of(work)
                found += decode_replacements(data)
            expected, expected_end = cleaned_here(storage)
            assert len(expected) > 5
            assert end == expected_end
            assert found == expected
        assert len(pool.pids) == 1

    play(storage, story)


def test_a_slow_pass_reports_every_second(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = FakeClock()
    monkeypatch.setattr(cleaning, "SystemClock", lambda: clock)
    pauses: list[float] = []
    sent: list[bytes] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        clock.advance(round(seconds * 1000))

    end = cleaning.clean(job(READ_BYTES / 5), storage.log, pause, sent.append)
    assert end == cleaned_here(storage)[1]
    assert max(pauses) == 1
    assert sent.count(b"") > sum(pauses) / 2 > 50


def test_a_worker_that_is_killed_fails_its_pass(storage: Storage) -> None:
    async def story(pool: WorkerProcesses) -> None:
        work = pool.start(job(max_bytes_per_second=1), storage.log)
        assert work is not None
        assert pool.start(job(), storage.log) is None
        os.kill(pool.pids[0], signal.SIGKILL)
        _, end = await part_of(work)
        assert isinstance(end, StorageFailed)
        assert pool.start(job(), storage.log) is not None

    play(storage, story)


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="no idle scheduling class")
def test_a_worker_has_idle_priority_unless_its_job_is_urgent(storage: Storage) -> None:
    async def story(pool: WorkerProcesses) -> None:
        policies, processes = [], set()
        for is_urgent in (True, False, False, True):
            work = pool.start(job(is_urgent=is_urgent), storage.log)
            assert work is not None
            await part_of(work)
            [pid] = pool.pids
            policies.append(os.sched_getscheduler(pid))
            processes.add(pid)
            while (await part_of(work)).end is None:
                pass
        assert policies == [os.SCHED_OTHER, os.SCHED_IDLE, os.SCHED_IDLE, os.SCHED_OTHER]
        assert len(processes) == 2

    play(storage, story)


def test_a_worker_that_is_killed_leaves_no_reader(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove, removed = storage.remove_killed_readers, asyncio.Event()
    assert remove is not None
    counts: list[object] = []

    def count() -> None:
        counts.append(remove())
        removed.set()

    monkeypatch.setattr(storage, "remove_killed_readers", count)

    async def story(pool: WorkerProcesses) -> None:
        work = pool.start(job(), storage.log)
        assert work is not None
        while (await part_of(work)).end is None:
            pass
        os.kill(pool.pids[0], signal.SIGKILL)
        await removed.wait()
        assert counts == [1]

    play(storage, story)
