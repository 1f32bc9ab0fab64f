"""Why a store cannot be opened: for the person who starts the broker, never for a client."""

from __future__ import annotations


class StorageUnusable(Exception):
    """One line that says what is wrong and, where there is something, what to do."""


class UnknownStorage(StorageUnusable):
    """The URL names no engine that there is."""


class StorageInUse(StorageUnusable):
    """The folder belongs to a process that still runs."""


class StorageDamaged(StorageUnusable):
    """What lies in the folder is not a store, or no longer a whole one."""


class StorageOtherFormat(StorageUnusable):
    """Another version of Ottla wrote it, in a format that this one does not read."""


class StorageForeign(StorageUnusable):
    """The folder is somebody else's, and not empty."""


class OffsetsUnusable(StorageUnusable):
    """Committed offsets cannot be kept in the place of their own."""
