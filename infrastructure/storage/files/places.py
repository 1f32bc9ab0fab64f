"""Where the folder of a log is."""

from __future__ import annotations

from application.ports.log_store import LogName


def unnamed_folder(root: str, partition_id: int) -> str:
    """Of a log that belongs to no topic."""
    return f"{root}/partition.{partition_id:032x}-stray"


def named_folder(root: str, name: LogName) -> str:
    return f"{root}/{name.topic}-{name.partition}"
