"""A store of files below the simulated one: it gets the same commits, and its reads are compared.

A process that dies leaves its folder as it is at that moment: within the writes before the commit
of the rows, or within what follows it. The next process opens the folder anew.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any
from unittest.mock import patch

from application.ports.log_store import NOT_INDEXED, Buffer, LogName
from domain.errors import StorageFailed
from domain.messages.batch import last_offset_of
from infrastructure.opening import open_storage
from infrastructure.storage.files import rewriting
from infrastructure.storage.files.commit import FilesCommit
from infrastructure.storage.files.log_store import FilesLogStore
from infrastructure.storage.files.rows import partition_of
from infrastructure.storage.files.staged import StagedLogs
from infrastructure.storage.lmdb.own_rows import OwnRows
from tests.simulation.disk import Append, Change, Disk, Replace, Row, Trim
from tests.simulation.model import Violation
from tests.simulation.store import Done, SimulatedStore, StoreControl
from tests.simulation.timeline import ProcessLoop

#: One world of so many.
ONE_IN = 8
MAP_SIZE_BYTES = 1 << 24
EVERYTHING = 1 << 62
#: Of batches that begin a segment though the broker did not ask for it.
ROLLS = 0.2
#: Calls that change a folder; a process dies before one of the next so many.
CALLS = "pwritev", "pwrite", "rename", "unlink", "truncate", "ftruncate", "mkdir"
MOST_CALLS = 12


def stores_files(seed: int) -> bool:
    return seed % ONE_IN == ONE_IN - 1


class Killed(BaseException):
    """Nothing in the engine catches it."""


@contextmanager
def killed_before_call(number: int) -> Iterator[None]:
    left = number

    def counted(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0:
            raise Killed
        return call(*arguments, **named)

    with ExitStack() as patches:
        for name in CALLS:
            patches.enter_context(patch.object(os, name, partial(counted, getattr(os, name))))
        try:
            yield
        except Killed:
            pass


class StoredFiles:
    """The folder of a world."""

    def __init__(self, seed: int) -> None:
        self._random = Random(f"files of {seed}")  # does not change other worlds
        memory = Path("/dev/shm")
        place = memory if memory.is_dir() else None
        self._folder = Path(mkdtemp(prefix=f"ottla-simulation-{seed}-", dir=place))

    def open(self, disk: Disk, loop: ProcessLoop, control: StoreControl) -> FilesStore:
        return FilesStore(disk, loop, control, self._folder, self._random)

    def shrink(self, context: ExitStack) -> None:
        """Copies of many small steps."""
        at_once = self._random.choice((1, 500, rewriting.COPIED_AT_ONCE_BYTES))
        context.enter_context(patch.object(rewriting, "COPIED_AT_ONCE_BYTES", at_once))
        context.enter_context(patch.object(rewriting, "_PIECE_BYTES", at_once))

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


class FilesStore(SimulatedStore):
    def __init__(
        self, disk: Disk, loop: ProcessLoop, control: StoreControl, folder: Path, random: Random
    ) -> None:
        super().__init__(disk, loop, control)
        self._folder, self._random = folder, random
        storage = open_storage(f"files://{folder}", "os", MAP_SIZE_BYTES)
        assert isinstance(storage.log, FilesLogStore)
        assert isinstance(storage.commit, FilesCommit)
        self._real, self._rows = storage.log, storage.state
        self._commit, self._pass = storage.commit, storage.commit._pass
        #: Calls that are no changes of the simulated disk; and those of the commit under way.
        self._calls: list[Callable[[], object]] = []
        self._calls_under_way: list[Callable[[], object]] = []
        self.check()

    # ---- changes

    def append(
        self,
        partition_id: int,
        last_offset: int,
        batch: Buffer,
        indexed_timestamp: int = NOT_INDEXED,
        begins_segment: bool = False,
    ) -> None:
        super().append(partition_id, last_offset, batch, indexed_timestamp)
        change = self.staged[-1]
        assert isinstance(change, Append)
        change.begins_segment = begins_segment or self._random.random() < ROLLS

    def name(self, partition_id: int, name: LogName | None) -> None:
        self._calls.append(partial(self._real.name, partition_id, name))

    def copy_before(self, partition_id: int, offset: int) -> bool:
        """Tried, and undone; done with the commit."""
        super().copy_before(partition_id, offset)
        nothing_left = self._real.copy_before(partition_id, offset)
        self._pass.abort()
        if not nothing_left:
            self._calls.append(partial(self._real.copy_before, partition_id, offset))
        return nothing_left

    # ---- the commit

    def commit(self, done: Done, waits: bool = False) -> None:
        self._calls_under_way, self._calls = self._calls, []
        super().commit(done, waits)

    def _persist(self, changes: list[Change]) -> None:
        self._stage(changes)
        failure = self._commit_real()
        if failure is not None:
            raise Violation(f"the store of files fails: {failure}")
        super()._persist(changes)

    def _tear(self, changes: list[Change]) -> None:
        self._stage(changes)
        committed = StagedLogs.committed

        def torn(staged: StagedLogs) -> None:
            with killed_before_call(self._random.randrange(1, MOST_CALLS)):
                committed(staged)

        with patch.object(StagedLogs, "committed", torn):
            failure = self._commit_real()
        if failure is not None:
            raise Violation(f"the store of files fails: {failure}")
        super()._persist(changes)

    def _drop(self, changes: list[Change]) -> None:
        with killed_before_call(self._random.randrange(1, 4 * MOST_CALLS)):
            self._stage(changes)
            if self._pass.txn is not None:
                self._pass._put_staged(self._pass.txn)

    def _refuse(self, changes: list[Change], behind: list[Change]) -> None:
        self._calls.clear()

        def full(*_: object) -> None:
            raise OSError("the disk is full")

        with patch.object(OwnRows, "put", full):
            self._stage(changes)
            self._pass.fail("the disk is full")
            self._commit_real()

    def _commit_real(self) -> StorageFailed | None:
        failures: list[StorageFailed | None] = []
        self._commit.commit(failures.append)
        return failures[0]

    def _stage(self, changes: list[Change]) -> None:
        calls, self._calls_under_way = self._calls_under_way, []
        for call in calls:
            call()
        log = self._real
        for one in changes:
            if isinstance(one, Append):
                log.append(
                    one.partition_id,
                    one.last_offset,
                    one.batch,
                    one.indexed_timestamp,
                    one.begins_segment,
                )
            elif isinstance(one, Replace):
                offsets = one.first_offset, one.last_offset
                log.replace(one.partition_id, *offsets, one.batches, one.indexed)
            elif isinstance(one, Row):
                self._rows.put(one.table, one.key, one.value)
            elif isinstance(one, Trim):
                log.trim(one.partition_id, one.offset, max(1, one.count))
            else:
                log.drop(one.partition_id, max(1, one.count))

    # ---- reads

    def read_disk(self, partition_id: int, offset: int, *limits: Any) -> bytes:
        """Below the log start there may be more in a segment."""
        first = max(offset, self._disk.starts.get(partition_id, 0))
        expected = super().read_disk(partition_id, first, *limits)
        found = self._real.read(partition_id, first, *limits)
        if found != expected:
            raise Violation(
                f"partition {partition_id} from {first} on: {len(found)} bytes are read, not "
                f"{len(expected)}"
            )
        return found

    def headers(
        self, partition_id: int, offset: int, limit: int, waits: bool = False
    ) -> list[bytes]:
        found = super().headers(partition_id, offset, limit, waits)
        first = max(offset, self._disk.starts.get(partition_id, 0))
        expected = [one for one in found if last_offset_of(one) >= first]
        limit -= len(found) - len(expected)
        if expected != self._real.headers(partition_id, first, limit, waits):
            raise Violation(f"partition {partition_id} has other headers from {first} on")
        return found

    def at_timestamp(self, partition_id: int, timestamp: int) -> int:
        super().at_timestamp(partition_id, timestamp)
        return self._real.at_timestamp(partition_id, timestamp)

    def get(self, table: str, key: bytes) -> bytes | None:
        expected, found = super().get(table, key), self._rows.get(table, key)
        if found != expected:
            raise Violation(f"{table} {key!r} is {found!r}, not {expected!r}")
        return found

    def check(self) -> None:
        """All that is committed, and no file of anything else."""
        for table, rows in self._disk.tables.items():
            if dict(self._rows.scan(table)) != rows:
                raise Violation(f"{table} has other rows")
        # Of a doomed log, the engine drops whole segments.
        doomed = {int.from_bytes(key, "big") for key in self._disk.tables.get("doomed", ())}
        for partition_id in self._disk.logs.keys() - doomed:
            self.read_disk(partition_id, 0, EVERYTHING, EVERYTHING, True)
        self._check_files()

    def _check_files(self) -> None:
        folder = self._real._folder
        # A start removes what belongs to no log, and the first use of one what no commit reached.
        found = (folder.find(partition_of(key)) for key, _ in folder.rows.scan())
        logs = [log for log in found if log is not None]
        folders = {log.folder for log in logs}
        for log in logs:
            files = {path for one in log.segments for path in map(one.path_of, KINDS)}
            for path in Path(log.folder).glob("*.*"):
                if path.name != "partition.metadata" and str(path) not in files:
                    raise Violation(f"{path} belongs to no segment")
        for path in self._folder.iterdir():
            if path.is_dir() and str(path) not in folders and any(path.glob("*.log")):
                raise Violation(f"{path} belongs to no log")

    # ---- the end of the process

    def die(self) -> None:
        """The system closes what a killed process has open."""
        folder = self._real._folder
        folder.files.close()
        if folder._descriptor >= 0:
            os.close(folder._descriptor)
            folder._descriptor = -1
        txn, self._pass.txn = self._pass.txn, None
        if txn is not None:
            txn.abort()
        self._pass._environment.close()


KINDS: Sequence[str] = (".log", ".index", ".timeindex")
