"""Segments and indexes of files:// against a plain list of batches: any changes, kills, damage."""

from __future__ import annotations

import itertools
import struct
import tempfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from application.ports.log_store import END_OF_PASS, NOT_INDEXED
from infrastructure.kafka_folder.index_entries import IndexEntries
from infrastructure.storage.files import environment, log_folder, rewriting, run, segment
from tests.contract.batches import batch
from tests.fakes.files_store import ORDERS, FilesStore, P
from tests.fakes.machine import restart_machine

INTERVAL_BYTES = 500
SIZES = st.sampled_from([300, 61, 100, 700, 5000, 40_000, 200_000])
#: What a read may return, in turn.
LIMITS = 1, 1000, 60_000, 1 << 40


class Batch(NamedTuple):
    first: int
    last: int
    timestamp: int
    data: bytes


def made(first: int, last: int, size_bytes: int, timestamp: int) -> Batch:
    content = b"%d to %d" % (first, last) if size_bytes > 90 else b""
    data = bytearray(batch(last, content, first, size_bytes))
    struct.pack_into(">q", data, 35, timestamp)
    return Batch(first, last, timestamp, bytes(data))


class FilesLogMachine(RuleBasedStateMachine):
    @initialize(flush=st.sampled_from(["interval", "os"]))
    def open(self, flush: str) -> None:
        self.place = tempfile.TemporaryDirectory()
        self.store = FilesStore(Path(self.place.name) / "store", flush)  # type: ignore[arg-type]
        self.batches: list[Batch] = []
        self.end = self.step = 0
        #: Partitions that give a flush something to do.
        self.others = itertools.count()
        #: Names of segments.
        self.damaged: set[str] = set()
        self.opened()
        self.append(20, [300, 700, 5000], [0, 0, 3], [0, 1], [5, 6, -1, 7], 5, False)

    def opened(self) -> None:
        """All is flushed, as whenever the engine asks for it."""
        self.flushed = list(self.batches), self.end
        self.keeps = False
        keep = self.store.files.keep

        def keep_and_note() -> None:
            keep()
            self.keeps = True

        self.store.files.keep = keep_and_note

    # ---- changes

    @rule(
        count=st.sampled_from([20, 9, 3, 1]),
        sizes=st.lists(SIZES, min_size=1, max_size=5),
        gaps=st.lists(st.sampled_from([0, 0, 0, 3]), min_size=1),
        deltas=st.lists(st.sampled_from([0, 0, 1, 5]), min_size=1),
        timestamps=st.lists(st.sampled_from([-1, 0, 5, 6, 7, 99]), min_size=1),
        rolls_at=st.sampled_from([0, 5, -1, -1]),
        fails=st.sampled_from([False, False, False, True]),
    )
    def append(
        self,
        count: int,
        sizes: list[int],
        gaps: list[int],
        deltas: list[int],
        timestamps: list[int],
        rolls_at: int,
        fails: bool,
    ) -> None:
        new: list[Batch] = []
        end = self.end
        for at in range(count):
            first = end + gaps[at % len(gaps)]
            end = first + deltas[at % len(deltas)] + 1
            size_bytes, timestamp = sizes[at % len(sizes)], timestamps[at % len(timestamps)]
            one = made(first, end - 1, size_bytes, timestamp)
            self.store.log.append(P, one.last, one.data, NOT_INDEXED, at == rolls_at)
            new.append(one)
        if fails:
            self.store.log.append(P, end - 1, one.data)
            assert "already" in self.store.refused()
        else:
            self.store.keep()
            self.batches += new
            self.end = end

    @precondition(lambda self: self.batches)
    @rule(data=st.data(), most=st.integers(1, 3))
    def trim(self, data: st.DataObject, most: int) -> None:
        """By whole segments: what ends below the offset may stay, but nothing else goes."""
        offset = data.draw(st.integers(0, self.end))
        done, size_bytes = False, 0
        while not done:
            removed, done = self.store.log.trim(P, offset, most)
            size_bytes += removed
            self.store.keep()
        while size_bytes:
            gone = self.batches.pop(0)
            assert gone.last < offset
            size_bytes -= len(gone.data)
        assert size_bytes == 0

    @precondition(lambda self: self.batches)
    @rule(data=st.data(), ends_pass=st.booleans())
    def compact(self, data: st.DataObject, ends_pass: bool) -> None:
        at = data.draw(st.integers(0, len(self.batches) - 1))
        old = self.batches[at : at + data.draw(st.integers(1, 10))]
        new = []
        for one in old:
            choice = data.draw(st.sampled_from(["goes", "stays", "shrinks"]))
            if choice == "stays":
                new.append(one)
            elif choice == "shrinks":
                new.append(made(one.first, one.last, min(len(one.data), 80), one.timestamp))
        first, last = old[0].last, old[-1].last
        self.copy_before(first)
        grown = self.store.log.replace(P, first, last, [one.data for one in new], [])
        sizes = [sum(len(one.data) for one in batches) for batches in (new, old)]
        assert grown == sizes[0] - sizes[1]
        self.store.keep()
        self.batches[at : at + len(old)] = new
        if ends_pass:
            self.copy_before(END_OF_PASS)

    def copy_before(self, offset: int) -> None:
        while not self.store.log.copy_before(P, offset):
            self.store.keep()
        self.store.keep()

    @rule(named=st.booleans())
    def name(self, named: bool) -> None:
        self.store.name(ORDERS if named else None)
        self.store.keep()

    # ---- what happens to files

    @rule()
    def reopen(self) -> None:
        self.store.reopen()
        self.opened()

    @rule()
    def kill(self) -> None:
        self.store.kill()
        self.opened()

    @precondition(lambda self: self.store.flush == "interval")
    @rule()
    def flush(self) -> None:
        self.store.append(0, partition_id=P + 1 + next(self.others))
        self.store.keep()
        self.store.run_flush()
        self.flushed = list(self.batches), self.end

    @precondition(lambda self: self.store.flush == "interval")
    @rule()
    def lose_power(self) -> None:
        """All writes reach the disk, but the newest flush is what counts."""
        self.store.kill_for_good()
        restart_machine(self.store.folder)
        self.store.open_again()
        batches, self.end = self.flushed
        self.batches = list(batches)
        self.opened()

    @rule(data=st.data(), then=st.sampled_from(["goes on", "reopen", "kill"]))
    def damage_index(self, data: st.DataObject, then: str) -> None:
        paths = sorted(self.store.folder.glob("*/*index"))
        if not paths:
            return
        path = data.draw(st.sampled_from(paths))
        content = bytearray(path.read_bytes())
        match data.draw(st.sampled_from(["deleted", "cut", "flipped", "zeros", "more"])):
            case "deleted":
                path.unlink()
            case "cut":
                path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
            case "flipped":
                for _ in range(data.draw(st.integers(1, 3)) if content else 0):
                    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(
                        st.integers(0, 7)
                    )
                path.write_bytes(content)
            case "zeros":
                at = data.draw(st.integers(0, len(content)))
                path.write_bytes(content[:at] + bytes(len(content) - at))
            case "more":
                path.write_bytes(content + bytes(data.draw(st.integers(1, 40))))
        # Only what reads have met is rebuilt.
        self.damaged.add(path.name[:20])
        if then == "reopen":
            self.reopen()
        elif then == "kill":
            self.kill()

    # ---- what holds

    @invariant()
    def reads_are_right(self) -> None:
        if self.keeps:
            self.flushed, self.keeps = (list(self.batches), self.end), False
        log, offsets = self.store.log, {0, self.end}
        for one in self.batches:
            offsets |= {one.first, one.last, one.last + 1}
        # Others with each step.
        self.step += 1
        every = 1 + len(offsets) // 15
        for number, offset in enumerate(sorted(offsets)[self.step % every :: every]):
            after = [one for one in self.batches if one.last >= offset]
            limit, whole = LIMITS[number % len(LIMITS)], number % 3 > 0
            end = self.end - number % 2
            read, reached = b"", offset
            for one in after:
                fits = len(read) + len(one.data) <= limit or (whole and not read)
                if one.last >= end or not fits:
                    break
                read, reached = read + one.data, one.last + 1
            assert log.read_to(P, offset, end, limit, whole) == (read, reached)
            headers = [one.data[:61] for one in after[:3]]
            assert log.headers(P, offset, 3) == headers
        found = self.store.files.find(P)
        if found is not None:
            newest = self.batches[-1].last if self.batches else -1
            assert found.last_offset() == newest
            assert found.row.end_offset == self.end
        assert (P in log.partition_ids()) == bool(self.batches)

    @invariant()
    def indexes_are_those_of_kafka(self) -> None:
        found = self.store.files.find(P)
        for one in found.segments if found is not None else []:
            path = Path(one.path_of(".index"))
            # One of a half rewritten segment may lag.
            if one.start or path.name[:20] in self.damaged or not path.exists():
                continue
            data = Path(one.path).read_bytes()[: one.size_bytes]
            offsets, times = indexes_of(data, one.file_base)
            written = path.read_bytes()
            assert offsets.startswith(written)
            if one is not found.segments[-1] and not one.suffix:
                assert offsets == written
            largest = -1
            for timestamp, offset in struct.iter_unpack(
                ">qi", Path(one.path_of(".timeindex")).read_bytes()
            ):
                assert timestamp > largest
                assert times[offset] == largest or times[offset] == timestamp
                largest = timestamp

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.place.cleanup()


def indexes_of(data: bytes, base_offset: int) -> tuple[bytes, dict[int, int]]:
    """The whole offset index; and the largest timestamp up to each batch."""
    offsets, times = b"", {}
    position = since_entry = 0
    largest = -1
    while position < len(data):
        first, length, delta, timestamp = struct.unpack_from(">qi11xi8xq", data, position)
        relative = first + delta - base_offset
        times[relative] = largest = max(largest, timestamp)
        if since_entry > INTERVAL_BYTES:
            offsets += struct.pack(">ii", relative, position)
            since_entry = 0
        since_entry += length + 12
        position += length + 12
    return offsets, times


def test_reads_agree_with_a_list_of_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segment, "IndexEntries", partial(IndexEntries, interval_bytes=500))
    monkeypatch.setattr(segment, "UNWRITTEN_BYTES", 4 * 8)
    monkeypatch.setattr(run, "UNWRITTEN_BYTES", 4 * 8)
    monkeypatch.setattr(rewriting, "COPIED_AT_ONCE_BYTES", 3000)
    monkeypatch.setattr(rewriting, "_PIECE_BYTES", 1000)
    for module in (environment, log_folder):
        monkeypatch.setattr(module, "sync_file_system", lambda descriptor: None)
    default = settings()
    examples = 25 if default.max_examples == 100 else default.max_examples
    run_state_machine_as_test(
        FilesLogMachine, settings=settings(default, max_examples=examples, stateful_step_count=12)
    )
