"""Stores of files, as a test changes them, and as a kill leaves them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from application.ports.log_store import NOT_INDEXED, LogName
from domain.errors import StorageFailed
from infrastructure.opening import open_storage
from infrastructure.storage.files.log_folder import LogFolder
from infrastructure.storage.flush import Flush
from tests.contract.batches import batch
from tests.contract.engines import Engine, OpenStore
from tests.fakes.patience import patiently

#: Stores of this test, for a fixture to close.
OPENED: list[FilesStore] = []
P = 7
ORDERS = LogName("orders", 0, bytes(range(16)))


class FilesStore(OpenStore):
    def __init__(self, folder: Path, flush: Flush = "commit", cold: bool = False) -> None:
        self.flush = flush
        self.callbacks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        to_loop = self.callbacks.put if cold else None
        super().__init__(
            Engine(lambda place: open_storage(f"files://{place}", flush, to_loop=to_loop)), folder
        )
        self._kills = 0
        OPENED.append(self)

    @property
    def files(self) -> LogFolder:
        return self.log._folder  # type: ignore[attr-defined,no-any-return]

    def append(
        self, last_offset: int, size_bytes: int = 100, roll: bool = False, partition_id: int = P
    ) -> bytes:
        one = batch(last_offset, b"%d " % last_offset if size_bytes > 80 else b"", None, size_bytes)
        self.log.append(partition_id, last_offset, one, NOT_INDEXED, roll)
        return one

    def fill(self, *segments: list[int], size_bytes: int = 100) -> bytes:
        """A segment for each list of offsets, in one commit each."""
        data = b""
        for offsets in segments:
            for at, offset in enumerate(offsets):
                data += self.append(offset, size_bytes, roll=not at)
            self.keep()
        return data

    def name(self, name: LogName | None = ORDERS, partition_id: int = P) -> None:
        self.log.name(partition_id, name)

    def refused(self) -> str:
        failure = self.commit()
        assert isinstance(failure, StorageFailed)
        assert "\n" not in str(failure)
        return str(failure)

    def run_flush(self) -> None:
        assert self.storage.start_flush is not None
        self.storage.start_flush()
        flushing = self.storage.commit._flushing  # type: ignore[attr-defined]
        assert flushing is not None
        flushing.join()

    def kill(self) -> None:
        """Goes on with the files that a killed process leaves."""
        self.kill_for_good()
        self.open_again()

    def open_again(self) -> None:
        self._use(self.engine.open_in(self.folder))

    def kill_for_good(self) -> None:
        self._kills += 1
        copy = self.folder.with_name(f"{self.folder.name}.{self._kills}")
        left_out = shutil.ignore_patterns("lock.mdb", "ottla.reserve")
        shutil.copytree(self.folder, copy, ignore=left_out)
        self.close()
        shutil.rmtree(self.folder)
        copy.rename(self.folder)

    def drop(self, partition_id: int = P) -> None:
        while not self.log.drop(partition_id, 1):
            self.keep()
        self.keep()

    def everything(self, partition_id: int = P) -> bytes:
        return super().everything(partition_id)

    def patiently(self, read: Callable[[], bytes]) -> bytes:
        return patiently(read, self.callbacks, attempts=100)

    def close(self) -> None:
        with suppress(StorageFailed):
            self.storage.commit.close()

    def listing(self) -> list[str]:
        """The files of logs."""
        return sorted(
            str(path.relative_to(self.folder))
            for path in self.folder.rglob("*")
            if path.parent != self.folder
        )

    def path(self, base_offset: int, kind: str = "log", folder: str = "") -> Path:
        return self.folder / (folder or unnamed(P)) / f"{base_offset:020d}.{kind}"


def unnamed(partition_id: int) -> str:
    return f"partition.{partition_id:032x}-stray"
