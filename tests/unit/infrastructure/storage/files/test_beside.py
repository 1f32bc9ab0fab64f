"""A reader beside the broker: here another process writes meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from domain.messages.batch import RecordBatch
from infrastructure.opening import Beside, opened_beside

BATCHES, SEGMENT = 30, 10

_WRITER = """
import sys
from contextlib import closing
from application.ports.commit import at_once
from infrastructure.opening import open_storage

from tests.fakes.batches import record_batch

storage = open_storage(sys.argv[1], "os")
log = storage.log

def keep():
    at_once(storage.commit.commit)

def fill(first, last, size=100):
    for offset in range(first, last):
        batch = record_batch([b"v" * size], base_offset=offset)
        log.append(0, offset, batch, begins_segment=not offset % 10)
    keep()

def compact(first, last):
    while not log.copy_before(0, first):
        keep()
    log.replace(0, first, last, [], [])
    keep()
    while not log.copy_before(0, 1 << 63):
        keep()
    keep()

with closing(storage.commit):
    for line in sys.stdin:
        exec(line)
        print("done", flush=True)
"""


class Writer:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def does(self, line: str) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        print(line, file=self._process.stdin, flush=True)
        assert self._process.stdout.readline() == "done\n"


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    with subprocess.Popen(
        [sys.executable, "-c", _WRITER, f"files://{tmp_path}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        writer = Writer(process)
        writer.does(f"fill(0, {BATCHES})")
        yield writer
        assert process.stdin is not None
        process.stdin.close()


@contextmanager
def beside(tmp_path: Path) -> Iterator[Beside]:
    with opened_beside(f"files://{tmp_path}") as store:
        yield store


def offsets(store: Beside) -> list[int]:
    found = []
    position = 0
    while entries := store.entries(0, position, 1 << 62, 500):
        for last_offset, entry in entries:
            view = memoryview(entry)
            while view:
                batch = RecordBatch(view)
                assert batch.last_offset <= last_offset
                found.append(batch.base_offset)
                view = view[batch.size_bytes :]
            position = last_offset + 1
    assert found == [RecordBatch(memoryview(h)).base_offset for h in store.log.headers(0, 0, 1000)]
    return found


def test_appended_batches_are_read(writer: Writer, tmp_path: Path) -> None:
    with beside(tmp_path) as store:
        assert offsets(store) == list(range(30))
        writer.does("fill(30, 45)")
        assert offsets(store) == list(range(45))


def test_a_segment_that_compaction_has_replaced_is_read(writer: Writer, tmp_path: Path) -> None:
    """The row is the one of before: only the files have changed."""
    with beside(tmp_path) as store:
        assert offsets(store) == list(range(30))
        writer.does("compact(3, 6)")
        assert offsets(store) == [0, 1, 2, *range(7, 30)]
        writer.does("compact(12, 12); fill(30, 33)")
        assert offsets(store) == [0, 1, 2, *range(7, 12), *range(13, 33)]


def test_a_log_whose_segments_are_all_new_is_read(writer: Writer, tmp_path: Path) -> None:
    with beside(tmp_path) as store:
        assert store.bounds(0)[1] == 30
        writer.does("fill(30, 50); log.trim(0, 40, 100); keep()")
        assert offsets(store) == list(range(40, 50))


def test_a_dropped_log_is_gone(writer: Writer, tmp_path: Path) -> None:
    with beside(tmp_path) as store:
        assert offsets(store) == list(range(30))
        writer.does("log.drop(0, 100); keep()")
        assert offsets(store) == []
