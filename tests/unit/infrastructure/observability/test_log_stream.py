"""A log whose reader does not read must not block the broker."""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from infrastructure.observability.event_log import event_log, open_event_log
from infrastructure.observability.log_stream import QUEUE_BYTES, PlainStream, log_stream

PATIENCE_S = 30.0
#: The default of Linux.
PIPE_BYTES = 65_536


class Pipe:
    """A log over a pipe that only `read` reads."""

    def __init__(self, blocking: bool = True) -> None:
        self.reading, self.writing = os.pipe()
        os.set_blocking(self.writing, blocking)
        self.stream = os.fdopen(self.writing, "wb")
        self.log = open_event_log(self.stream, "json")

    def read(self, until: str, first: bytes = b"") -> list[dict[str, object]]:
        """All lines up to one of that event; `first` was read before."""
        lines: list[dict[str, object]] = []
        with os.fdopen(self.reading, "rb") as reading:
            for line in itertools.chain((first + reading.readline()).splitlines(), reading):
                lines.append(json.loads(line))
                if lines[-1]["event"] == until:
                    break
        return lines


@pytest.fixture(params=[True, False], ids=["", "does not wait"])
def pipe(request: pytest.FixtureRequest) -> Iterator[Pipe]:
    pipe = Pipe(blocking=request.param)
    yield pipe
    wait_for_no_thread()
    pipe.stream.close()


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "log"]


def wait_for_no_thread() -> None:
    for thread in threads():
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def test_lines_are_written_one_by_one_without_a_thread(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as stream:
        log = open_event_log(stream, "json")
        for number in range(100):
            log.info("line", number=number)
        assert threads() == []
        written = (tmp_path / "log").read_bytes().splitlines()
    assert [json.loads(line)["number"] for line in written] == list(range(100))


def test_a_pipe_without_a_reader_blocks_nothing_and_loses_no_buffered_line(
    pipe: Pipe,
) -> None:
    count = 3 * PIPE_BYTES // 1000
    for number in range(count):
        pipe.log.info("line", number=number, filling="x" * 1000)
    pipe.log.info("last")
    lines = pipe.read(until="last")
    assert [line.get("number") for line in lines] == [*range(count), None]


def test_lines_beyond_the_buffer_are_dropped_and_counted(pipe: Pipe) -> None:
    count = (PIPE_BYTES + QUEUE_BYTES) // 1000 * 2
    for number in range(count):
        pipe.log.info("line", number=number, filling="x" * 1000)
    lines = pipe.read(until="log_lines_dropped")
    dropped = lines.pop()
    assert [line["number"] for line in lines] == list(range(len(lines)))
    assert dropped["lines"] == count - len(lines)
    assert (dropped["level"], len(lines) > QUEUE_BYTES // 1200) == ("warning", True)


def test_dropped_lines_are_contiguous(pipe: Pipe) -> None:
    """A reader makes room after the gap before the gap is logged."""
    count = (PIPE_BYTES + QUEUE_BYTES) // 1000 * 2
    for number in range(count):
        pipe.log.info("line", number=number, filling="x" * 1000)
    with os.fdopen(pipe.reading, "rb", closefd=False, buffering=0) as reading:
        first = b""
        while len(first) < 3 * PIPE_BYTES:
            first += reading.read(PIPE_BYTES)
    pipe.log.info("line", number=count, filling="x" * 1000)
    *lines, dropped = pipe.read(until="log_lines_dropped", first=first)
    assert [line["number"] for line in lines] == list(range(len(lines)))
    assert dropped["lines"] == count + 1 - len(lines)


def test_a_line_longer_than_the_pipe_stays_whole(pipe: Pipe) -> None:
    pipe.log.info("long", filling="x" * 3 * PIPE_BYTES)
    pipe.log.info("last")
    long, _ = pipe.read(until="last")
    assert long["filling"] == "x" * 3 * PIPE_BYTES


def test_a_reader_can_go_away(pipe: Pipe) -> None:
    for _ in range(2 * PIPE_BYTES // 1000):
        pipe.log.info("line", filling="x" * 1000)
    os.close(pipe.reading)
    wait_for_no_thread()
    pipe.log.info("unread")


def test_a_late_reader_gets_the_last_lines() -> None:
    reading, writing = os.pipe()
    lines: list[bytes] = []

    def read() -> None:
        with os.fdopen(reading, "rb") as stream:
            lines.extend(stream)

    reader = threading.Thread(target=read)
    with os.fdopen(writing, "wb") as stream:
        with event_log(stream, "json", PATIENCE_S) as log:
            for number in range(2000):
                log.info("line", number=number)
            log.info("stopped")
            assert len(threads()) == 1, "the pipe is full"
            reader.start()
        assert threads() == [], "all is written"
    reader.join()
    events = [json.loads(line) for line in lines]
    assert [one.get("number") for one in events] == [*range(2000), None]
    assert events[-1]["event"] == "stopped"


def test_the_end_does_not_wait_long_for_a_reader(pipe: Pipe) -> None:
    with event_log(pipe.stream, "json", 0.01) as log:
        log.info("long", filling="x" * 3 * PIPE_BYTES)
    assert len(threads()) == 1
    os.close(pipe.reading)


def test_without_a_further_thread_lines_are_dropped_and_counted(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    pipe.log.info("first")
    pipe.log.info("long", filling="x" * 3 * PIPE_BYTES)
    for _ in range(100):
        pipe.log.info("dropped")
    start = os.read(pipe.reading, 2 * PIPE_BYTES)
    pipe.log.info("written")
    pipe.log.info("last")
    first, torn, *others = (start + os.read(pipe.reading, 2 * PIPE_BYTES)).splitlines()
    os.close(pipe.reading)
    assert json.loads(first)["event"] == "first"
    assert torn.endswith(b"xxx")
    dropped, *written = map(json.loads, others)
    assert (dropped["event"], dropped["lines"]) == ("log_lines_dropped", 101)
    assert [line["event"] for line in written] == ["written", "last"]


def test_a_stream_in_memory_has_no_buffer() -> None:
    stream = log_stream(io.BytesIO(), lambda _lines: b"")
    assert isinstance(stream, PlainStream)
    assert not isinstance(log_stream(sys.__stderr__.buffer, lambda _lines: b""), PlainStream)
