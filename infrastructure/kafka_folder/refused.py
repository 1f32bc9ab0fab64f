"""FolderRefused: why a folder of Kafka's cannot be read, in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class FolderRefused(Exception):
    pass


class NotStopped(FolderRefused):
    """Kafka has not stopped cleanly: the newest batches may be torn."""


class Damaged(FolderRefused):
    """A log ends within a batch, or has bytes that are no batch, from this byte of the file on."""

    def __init__(self, path: Path, position: int, why: str) -> None:
        super().__init__(f"{path} is damaged at byte {position}: {why}")
        self.position = position


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Errors of the system become FolderRefused."""
    try:
        yield
    except OSError as error:
        raise FolderRefused(f"{path} cannot be read: {error.strerror or error}") from error
