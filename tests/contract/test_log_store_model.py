"""LogStore against a model of twenty lines, under any order of calls that hypothesis finds."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path

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

from application.ports.log_store import END_OF_PASS, IndexEntry
from domain.messages.batch import EXTENT
from infrastructure.storage.postgresql import moving, tails
from tests.contract.batches import batch
from tests.contract.engines import ENGINES, Engine, OpenStore
from tests.contract.postgres_server import running_postgres


class Model:
    """A LogStore, without regard to speed."""

    def __init__(self) -> None:
        self.batches: dict[int, list[tuple[int, bytes]]] = {}
        self.index: dict[int, list[tuple[int, int]]] = {}

    def append(self, partition_id: int, last_offset: int, batch: bytes, timestamp: int) -> None:
        self.batches.setdefault(partition_id, []).append((last_offset, batch))
        if timestamp >= 0:
            self.index.setdefault(partition_id, []).append((timestamp, last_offset))

    def read(self, partition_id: int, offset: int, end: int, limit: int, whole: bool) -> bytes:
        read = b""
        for last_offset, one in self.batches.get(partition_id, []):
            if last_offset < offset:
                continue
            fits = len(read) + len(one) <= limit or (whole and not read)
            if last_offset >= end or not fits:
                break
            read += one
        return read

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        entries = self.index.get(partition_id, [])
        return max((offset + 1 for t, offset in entries if t < timestamp), default=0)

    def drop(self, partition_id: int) -> None:
        self.batches.pop(partition_id, None)
        self.index.pop(partition_id, None)

    def forget_index(self, partition_id: int, offset: int) -> None:
        index = self.index.get(partition_id, [])
        left = [entry for entry in index if entry[1] >= offset]
        self.index.pop(partition_id, None)
        if left:
            self.index[partition_id] = left

    def replace(
        self,
        partition_id: int,
        first: int,
        last: int,
        batches: list[tuple[int, bytes]],
        indexed: list[IndexEntry],
    ) -> None:
        old = self.batches.pop(partition_id, [])
        new = [one for one in old if one[0] < first] + batches
        if new := new + [one for one in old if one[0] > last]:
            self.batches[partition_id] = new
        index = self.index.pop(partition_id, [])
        before = [entry for entry in index if entry[1] < first]
        after = [entry for entry in index if entry[1] > last]
        least = max([0, *(timestamp for timestamp, _ in before)])
        most = min([1 << 63, *(timestamp for timestamp, _ in after)])
        between = [(max(t, least), offset) for t, offset in indexed if t < most]
        if index := before + between + after:
            self.index[partition_id] = index

    def shorten(self, partition_id: int, size_bytes: int) -> None:
        """Keeps the newest whole batches up to that size."""
        batches = self.batches.get(partition_id, [])
        while sum(len(one) for _, one in batches) > size_bytes:
            del batches[0]
        if not batches:
            self.batches.pop(partition_id, None)


PARTITIONS = st.integers(0, 3)
OFFSETS = st.integers(0, 60)


class LogStoreMachine(RuleBasedStateMachine):
    engine: Engine

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.store = OpenStore(self.engine, Path(self.folder.name))
        self.committed = Model()
        self.staged = Model()
        self.ends: dict[int, tuple[int, int]] = {}
        self.dropped: set[int] = set()

    @rule(
        partition_id=PARTITIONS,
        records=st.integers(1, 5),
        gap=st.sampled_from([0, 0, 0, 7]),
        size_bytes=st.sampled_from([61, 61, 100, 5000, 33_000, 140_000]),
        later_ms=st.none() | st.integers(0, 3),
        begins_segment=st.booleans(),
    )
    def append(
        self,
        partition_id: int,
        records: int,
        gap: int,
        size_bytes: int,
        later_ms: int | None,
        begins_segment: bool,
    ) -> None:
        if partition_id in self.dropped:
            return
        next_offset, largest = self.ends.get(partition_id, (0, 0))
        last_offset = next_offset + gap + records - 1
        timestamp = -1 if later_ms is None else largest + later_ms
        self.ends[partition_id] = (last_offset + 1, max(largest, timestamp))
        content = b"%d/%d " % (partition_id, last_offset) if size_bytes > 61 else b""
        first_offset = last_offset - records + 1
        appended = bytearray(batch(last_offset, content, first_offset, size_bytes))
        self.staged.append(partition_id, last_offset, bytes(appended), timestamp)
        self.store.log.append(
            partition_id, last_offset, memoryview(appended), timestamp, begins_segment
        )
        appended[:] = bytes(len(appended))

    @rule(partition_id=PARTITIONS, count=st.integers(1, 4))
    def drop(self, partition_id: int, count: int) -> None:
        """The engine decides how many batches it drops, but at least one."""
        self.dropped.add(partition_id)
        if self.store.log.drop(partition_id, count):
            self.staged.drop(partition_id)

    @rule(partition_id=PARTITIONS, offset=OFFSETS, count=st.integers(1, 4))
    def trim(self, partition_id: int, offset: int, count: int) -> None:
        """Trims to the end; batches in the entry of the log start may stay."""
        if partition_id in self.dropped:
            return
        self.commit()
        before, done = self.store.everything(partition_id), False
        while not done:
            size_bytes, done = self.store.log.trim(partition_id, offset, count)
            self.store.keep()
            after = self.store.everything(partition_id)
            assert before.endswith(after)
            assert len(before) - len(after) == size_bytes
            before = after
        question = (partition_id, offset, 1 << 62, 1 << 62, True)
        assert self.store.log.read(*question) == self.committed.read(*question)
        for model in (self.staged, self.committed):
            model.shorten(partition_id, len(before))
            model.forget_index(partition_id, offset)

    @rule(
        partition_id=PARTITIONS,
        first=st.integers(0, 8),
        count=st.integers(1, 8),
        data=st.data(),
    )
    def replace(self, partition_id: int, first: int, count: int, data: st.DataObject) -> None:
        """Each batch goes, stays, or becomes another one that may end earlier."""
        if partition_id in self.dropped:
            return
        self.commit()
        replaced = self.committed.batches.get(partition_id, [])[first : first + count]
        if not replaced:
            return
        new: list[tuple[int, bytes]] = []
        for last_offset, old in replaced:
            choice = data.draw(st.sampled_from(["goes", "stays", "shrinks", "shrinks"]))
            if choice == "stays":
                new.append((last_offset, old))
            elif choice == "shrinks":
                first_offset, _, delta = EXTENT.unpack_from(old)
                end = first_offset + data.draw(st.integers(0, delta))
                size_bytes = min(len(old), data.draw(st.sampled_from([61, 3000])))
                content = b"%d again " % end if size_bytes > 61 else b""
                new.append((end, batch(end, content, first_offset, size_bytes)))
        offsets = [offset for offset, _ in new if data.draw(st.booleans())]
        timestamps = sorted(data.draw(st.integers(0, 40)) for _ in offsets)
        indexed = list(zip(timestamps, offsets, strict=True))
        edges = replaced[0][0], replaced[-1][0]
        while not self.store.log.copy_before(partition_id, edges[0]):
            self.commit()
        grown = self.store.log.replace(partition_id, *edges, [one for _, one in new], indexed)
        sizes = [sum(len(one) for _, one in batches) for batches in (replaced, new)]
        assert grown == sizes[1] - sizes[0]
        self.staged.replace(partition_id, *edges, new, indexed)

    @rule()
    def commit(self) -> None:
        self.store.keep()
        for partition_id in self.dropped & self.staged.batches.keys():
            left = self.store.everything(partition_id)
            self.staged.shorten(partition_id, len(left))
            assert left == self.staged.read(partition_id, 0, 1 << 62, 1 << 62, True)
        self.committed = copy.deepcopy(self.staged)

    @precondition(lambda self: self.engine.persistent)
    @rule()
    def reopen_without_commit(self) -> None:
        self.store.reopen()
        self.staged = copy.deepcopy(self.committed)
        self.ends = {
            partition_id: (
                batches[-1][0] + 1,
                max(self.committed.index.get(partition_id, [(0, 0)]))[0],
            )
            for partition_id, batches in self.committed.batches.items()
        }

    @rule(partition_id=PARTITIONS)
    def end_pass_of_compaction(self, partition_id: int) -> None:
        if partition_id in self.dropped:
            return
        while not self.store.log.copy_before(partition_id, END_OF_PASS):
            self.commit()

    @rule(
        partition_id=PARTITIONS,
        offset=OFFSETS,
        end=OFFSETS,
        limit=st.sampled_from([0, 61, 200, 6000, 1 << 40]),
        whole=st.booleans(),
    )
    def read(self, partition_id: int, offset: int, end: int, limit: int, whole: bool) -> None:
        question = (partition_id, offset, end, limit, whole)
        assert self.store.log.read(*question) == self.committed.read(*question)

    @rule(partition_id=PARTITIONS, offset=OFFSETS, limit=st.integers(0, 5))
    def headers(self, partition_id: int, offset: int, limit: int) -> None:
        batches = self.committed.batches.get(partition_id, [])
        expected = [one[:61] for last_offset, one in batches if last_offset >= offset][:limit]
        assert self.store.log.headers(partition_id, offset, limit) == expected

    @rule(partition_id=PARTITIONS, timestamp=st.integers(-1, 40))
    def at_timestamp(self, partition_id: int, timestamp: int) -> None:
        if partition_id not in self.dropped:  # no reads while a partition is dropped
            expected = self.committed.at_timestamp(partition_id, timestamp)
            assert self.store.log.at_timestamp(partition_id, timestamp) == expected

    @invariant()
    def the_partitions_are_those_with_batches(self) -> None:
        assert self.store.log.partition_ids() == sorted(self.committed.batches)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.folder.cleanup()


class TailsMachine(LogStoreMachine):
    """Over many small tables: most logs are in several."""

    @rule(partition_id=PARTITIONS, other=PARTITIONS, commits=st.integers(2, 6))
    def append_to_two(self, partition_id: int, other: int, commits: int) -> None:
        for number in range(commits):
            self.append(partition_id, 2, 0, 100, number % 3, False)
            self.append(other, 1, 0, 61, None, False)
            self.commit()

    @rule(partition_id=st.integers(2, 3), count=st.integers(1, 4))
    def drop(self, partition_id: int, count: int) -> None:
        """Two logs go on."""
        super().drop(partition_id, count)


@pytest.mark.parametrize(
    "name", [pytest.param("postgresql-tails", marks=pytest.mark.long), "postgresql-objects"]
)
def test_a_log_in_many_tails_behaves_like_its_model(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    running_postgres()
    # An entry or two are moved at once.
    monkeypatch.setattr(tails, "_DEAD_TAILS", 0)
    monkeypatch.setattr(moving, "MOVED_BYTES", 150)
    machine = type("Machine", (TailsMachine,), {"engine": ENGINES[name]})
    run_state_machine_as_test(machine, settings=settings(max_examples=25, stateful_step_count=40))


@pytest.mark.parametrize(
    "name",
    [
        *("memory", "lmdb-os", "files-interval"),
        *(pytest.param(one, marks=pytest.mark.long) for one in ("files-os", "postgresql")),
    ],
)
def test_a_log_store_behaves_like_its_model(name: str) -> None:
    if name.startswith("postgresql"):
        running_postgres()
    machine = type("Machine", (LogStoreMachine,), {"engine": ENGINES[name]})
    run_state_machine_as_test(machine, settings=settings(max_examples=40, stateful_step_count=40))
