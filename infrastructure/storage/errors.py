"""Why a store cannot be opened: for the operator. A client gets StorageFailed."""

from __future__ import annotations

from domain.errors import StorageFailed


class StorageUnusable(Exception):
    """The message is one line: the problem and, if possible, what to do."""


class UnknownStorage(StorageUnusable):
    """The URL names no engine."""


class StorageUnreachable(StorageUnusable):
    """The database accepts no connection of this user."""


class StorageInUse(StorageUnusable):
    """Another process has the folder open."""


class StorageDamaged(StorageUnusable):
    """The folder has no store, or a damaged one."""


class StorageOtherFormat(StorageUnusable):
    """Another version of Ottla wrote it, in a format that this one does not read."""


class StorageForeign(StorageUnusable):
    """The folder or database belongs to something else."""


class OffsetsUnusable(StorageUnusable):
    """The place of committed offsets cannot be used."""


def store_closed() -> StorageFailed:
    """The outcome of each commit after `close`."""
    return StorageFailed("The store was closed")


def closed_during_a_commit() -> StorageFailed:
    """It may be persisted, as after a kill."""
    return StorageFailed("The store was closed during a commit")
