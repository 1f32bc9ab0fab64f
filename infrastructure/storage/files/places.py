"""Folders of logs: where they are, and what is in them besides segments."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from application.ports.log_store import LogName
from infrastructure.kafka_folder import files
from infrastructure.kafka_folder.checkpoints import partition_metadata, topic_id
from infrastructure.kafka_folder.refused import FolderRefused
from infrastructure.storage.files.segment import LOG


def unnamed_folder(root: str, partition_id: int) -> str:
    """Of a log that belongs to no topic."""
    return f"{root}/partition.{partition_id:032x}-stray"


def named_folder(root: str, name: LogName) -> str:
    return f"{root}/{name.topic}-{name.partition}"


def has_topic_id(folder: str) -> bool:
    """Or no folder."""
    try:
        return os.path.getsize(f"{folder}/{files.PARTITION_METADATA}") > 0
    except FileNotFoundError:
        return not os.path.isdir(folder)


def is_of_another(folder: str, name: LogName) -> bool:
    """Batches of a topic with another id are in it: of Kafka's, or of one whose row is lost."""
    try:
        its_topic_id = topic_id(Path(folder, files.PARTITION_METADATA))
        return its_topic_id != name.topic_id and has_batches(folder)
    except (OSError, FolderRefused):
        return False


def write_topic_id(folder: str, name: LogName) -> None:
    """Raises OSError."""
    Path(folder, files.PARTITION_METADATA).write_bytes(partition_metadata(name.topic_id))


def has_batches(folder: str) -> bool:
    """Raises OSError."""
    with os.scandir(folder) as entries:
        return any(one.name.endswith(LOG) and one.stat().st_size for one in entries)


def sync_file_system(descriptor: int) -> None:
    """Much faster than an fsync of each file. Raises OSError."""
    sync = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    if sync is None:  # macOS
        os.sync()
    elif sync(descriptor):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
