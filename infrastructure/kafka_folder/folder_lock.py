"""`.lock`: Kafka holds it while it runs. Of a process all locks go when one of them is closed."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from infrastructure.kafka_folder import files
from infrastructure.kafka_folder.refused import FolderRefused


def held(folder: Path, to_write: bool = False) -> int:
    """A descriptor; -1: there is no such file, and nothing is written. Raises FolderRefused."""
    path = folder / files.LOCK
    flags, kind = (
        (os.O_RDWR | os.O_CREAT, fcntl.LOCK_EX) if to_write else (os.O_RDONLY, fcntl.LOCK_SH)
    )
    descriptor = -1
    try:
        descriptor = os.open(path, flags | os.O_CLOEXEC, 0o644)
        fcntl.lockf(descriptor, kind | fcntl.LOCK_NB)
    except FileNotFoundError:
        return -1  # a copy
    except OSError as error:
        if descriptor >= 0:
            os.close(descriptor)
        if isinstance(error, BlockingIOError):
            raise FolderRefused(f"{folder} is in use by a running Kafka: stop it first") from None
        raise FolderRefused(f"{path} cannot be locked: {error.strerror or error}") from error
    return descriptor
