from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from application.metrics.families.family import Histogram, Sample, Source
from domain.errors import StorageFailed
from infrastructure.observability import loop_lag
from infrastructure.observability.loop_lag import LoopLag
from infrastructure.observability.process_figures import ProcessFigures
from infrastructure.observability.store_figures import StoreFigures
from infrastructure.observability.timed_commit import TimedCommit
from infrastructure.opening import open_storage
from tests.fakes.clock import FakeClock
from tests.fakes.copies import FakeCopies
from tests.fakes.scheduler import FakeScheduler


def read(source: Source) -> dict[str, list[Sample]]:
    return {family.name: samples for family, samples in source()}


def test_process_metrics_are_those_of_the_system() -> None:
    figures = read(ProcessFigures().read)
    assert all(figures.values()), figures
    [(_, resident)] = figures["process_resident_memory_bytes"]
    [(_, files)] = figures["process_open_fds"]
    [(_, started)] = figures["process_start_time_seconds"]
    assert isinstance(resident, int) and resident > 1_000_000
    assert isinstance(files, int) and abs(files - len(os.listdir("/proc/self/fd"))) <= 2
    assert isinstance(started, float) and 0 < started < 1e11
    assert [labels for labels, _ in figures["python_gc_collections_total"]] == [
        ("0",), ("1",), ("2",),
    ]  # fmt: skip


def test_open_files_are_counted_without_a_list_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """With 10,000 connections the list takes 19 ms of the loop."""
    if not os.stat("/proc/self/fd").st_size:
        pytest.skip("this kernel does not count them")
    monkeypatch.setattr(os, "listdir", lambda _: pytest.fail("listed"))
    assert read(ProcessFigures().read)["process_open_fds"]


def test_open_files_are_listed_where_the_kernel_does_not_count_them(tmp_path: Path) -> None:
    own = tmp_path / "self"
    own.mkdir()
    for name in ("stat", "self/stat", "self/status", "self/limits"):
        (tmp_path / name).symlink_to(Path("/proc", name))
    (own / "fd").symlink_to("/proc/self/task")  # a folder whose size is 0
    [(_, files)] = read(ProcessFigures(tmp_path).read)["process_open_fds"]
    assert files == len(os.listdir("/proc/self/task"))


def test_without_proc_some_process_metrics_are_missing(tmp_path: Path) -> None:
    figures = read(ProcessFigures(tmp_path / "nothing").read)
    assert "process_resident_memory_bytes" not in figures
    assert "process_open_fds" not in figures
    assert figures["python_info"]


def test_store_metrics_have_used_pages(tmp_path: Path) -> None:
    storage = open_storage(f"lmdb://{tmp_path}/store", "os", 1 << 26)
    figures = read(StoreFigures(storage).read)
    [(_, used)], [(_, pages)] = figures["ottla_store_used_bytes"], figures["ottla_store_used_pages"]
    assert figures["ottla_store_map_bytes"] == [((), 1 << 26)]
    assert isinstance(used, int) and isinstance(pages, int) and used == pages * 4096 > 0
    assert [0 <= free < used for _, free in figures["ottla_store_free_bytes"]] == [True]
    [(_, free)] = figures["ottla_store_disk_free_bytes"]
    assert isinstance(free, int) and free > 0
    storage.commit.close()


def test_a_store_in_memory_has_no_file() -> None:
    assert not any(read(StoreFigures(open_storage("memory://")).read).values())


def test_copies_are_shown_where_they_are_counted() -> None:
    storage = open_storage("memory://")
    assert read(StoreFigures(storage).read)["ottla_store_copies"] == []
    storage.copies = FakeCopies(2)
    assert read(StoreFigures(storage).read)["ottla_store_copies"] == [((), 2)]


def test_sessions_are_counted_where_there_are_some() -> None:
    storage = open_storage("memory://")
    storage.sessions_taken = lambda: 3
    assert read(StoreFigures(storage).read)["ottla_store_sessions_total"] == [((), 3)]


class LateCommit:
    """The test completes it."""

    def __init__(self) -> None:
        self.done: Callable[[StorageFailed | None], None] = lambda _: None

    def commit(self, done: Callable[[StorageFailed | None], None], waits: bool = False) -> None:
        self.done = done

    def close(self) -> None:
        self.done = lambda _: None


def test_commits_are_timed_and_failures_counted() -> None:
    late = LateCommit()
    timed = TimedCommit(late)
    outcomes: list[StorageFailed | None] = []
    timed.commit(outcomes.append)
    assert _count(timed) == 0
    late.done(None)
    timed.commit(outcomes.append)
    failure = StorageFailed("full")
    late.done(failure)
    assert outcomes == [None, failure]
    assert _count(timed) == 2
    assert read(timed.read)["ottla_commit_failures_total"] == [((), 1)]


def _count(timed: TimedCommit) -> int:
    [(_, histogram)] = read(timed.read)["ottla_commit_duration_seconds"]
    assert isinstance(histogram, Histogram)
    return histogram.count


def test_the_lag_of_the_loop_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = FakeClock()
    scheduler = FakeScheduler(clock)
    late_ns = 0
    monkeypatch.setattr(
        loop_lag, "perf_counter_ns", lambda: clock.monotonic_ms() * 1_000_000 + late_ns
    )
    lag = LoopLag(scheduler)
    lag.start()
    scheduler.advance(500)
    late_ns = 3_000_000
    scheduler.advance(500)
    [(_, histogram)] = read(lag.read)["ottla_loop_lag_seconds"]
    assert isinstance(histogram, Histogram)
    assert (histogram.count, histogram.sum) == (2, 0.003)
