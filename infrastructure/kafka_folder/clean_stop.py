"""How Kafka says that it has stopped cleanly, and how a store says so while it takes over.

Kafka's file would say for ever that the logs are as Kafka left them. The store's counts only
while Kafka has not been started: the metadata log grows with each start.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from infrastructure.kafka_folder import files
from infrastructure.storage.sync_folder import sync_folder

_METADATA_LOG = "__cluster_metadata-0"
#: The length of the metadata log.
TAKEN = "ottla.kafka_cleanshutdown"


def was_clean(folder: Path) -> bool:
    """Raises OSError."""
    if (folder / files.CLEAN_SHUTDOWN).exists():
        return True
    try:
        text = (folder / TAKEN).read_text("ascii", "replace")
    except FileNotFoundError:
        return False
    return text == str(metadata_bytes(folder))


def begin_taking(folder: Path) -> None:
    """Raises OSError."""
    with (folder / TAKEN).open("w", encoding="ascii") as file:
        file.write(str(metadata_bytes(folder)))
        file.flush()
        os.fsync(file.fileno())
    with suppress(FileNotFoundError):  # taken before, by a process that was killed
        os.unlink(folder / files.CLEAN_SHUTDOWN)
    sync_folder(folder)


def end_taking(folder: Path) -> None:
    """Raises OSError."""
    os.unlink(folder / TAKEN)


def metadata_bytes(folder: Path) -> int:
    """Raises OSError."""
    return sum(one.stat().st_size for one in (folder / _METADATA_LOG).glob("*.log"))
