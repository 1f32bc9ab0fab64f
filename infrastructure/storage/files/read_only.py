"""A store whose files only are read: rows live in a folder of their own, and go with it.

Groups may commit offsets, and topics be deleted, in these rows; the store itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infrastructure.storage.errors import StorageDamaged, StorageUnusable
from infrastructure.storage.lmdb.beside import copy_rows
from infrastructure.storage.lmdb.folder_lock import NobodyWrites
from infrastructure.storage.lmdb.inspection import DATA_FILE
from infrastructure.storage.lmdb.recovery_point import RecoveryPoint


class ReadOnlyReserve:
    """Implements application.ports.reserve.Reserve."""

    is_released = True
    is_read_only = True

    def admits(self, size_bytes: int) -> bool:
        return False


@contextmanager
def rows_of(store: Path, to: Path) -> Iterator[None]:
    """A copy of the rows; meanwhile no broker can write. Raises StorageUnusable."""
    lock = NobodyWrites(store)
    try:
        _copy(store, to)
        yield
    finally:
        lock.release()


def _copy(store: Path, to: Path) -> None:
    try:
        if RecoveryPoint(store).was_cut_off:
            raise StorageDamaged(
                f"the machine went down while the store in {store} was open: start a broker on it "
                "once without --read-only"
            )
        copy_rows(store, to)
    except OSError as error:
        reason = error.strerror or error
        raise StorageUnusable(f"{store / DATA_FILE} cannot be copied: {reason}") from error
