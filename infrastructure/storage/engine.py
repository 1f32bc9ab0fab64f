"""Engine: the implementation of a storage URL's scheme, and what it opens.

Its functions import what the engine needs; the value itself imports nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

from application.ports.cluster_changes import ClusterChanges
from application.ports.commit import Commit
from application.ports.copies import Copies
from application.ports.log_store import LogName, LogStore
from application.ports.membership import Membership
from application.ports.pending import Pending
from application.ports.reserve import Reserve
from application.ports.sealed_log import SealedLog
from application.ports.state_store import StateStore
from domain.cluster.nodes import Node
from domain.errors import StorageFailed
from infrastructure.storage.flush import Flush
from infrastructure.storage.traffic import Traffic

#: Runs a call on the event loop, from any thread.
ToLoop = Callable[[Callable[[], None]], object]


class Sockets(Protocol):
    """Of an event loop: callbacks while a descriptor can be read, or written."""

    def add_reader(self, fd: int, callback: Callable[[], None], /) -> object: ...

    def remove_reader(self, fd: int, /) -> object: ...

    def add_writer(self, fd: int, callback: Callable[[], None], /) -> object: ...

    def remove_writer(self, fd: int, /) -> object: ...


class StorageInfo(NamedTuple):
    """Facts about a store, as of when it was opened."""

    kind: str
    path: Path | None
    size_bytes: int
    flush: str
    store_id: str
    #: What a power cut did to the store, if it was opened after one.
    power_cut: str | None = None
    #: The part of `size_bytes` that is in use.
    live_bytes: int = 0
    #: How often acknowledged data may have been lost: each time a new leader epoch begins.
    losses: int = 0


@dataclass(frozen=True)
class StoreRoom:
    """How much of its file and address space a store has used."""

    map_bytes: int
    used_bytes: int
    #: The part of `used_bytes` in pages that are free.
    free_bytes: int
    page_bytes: int


class EntryBytes(NamedTuple):
    """Of the batches that are in use."""

    in_database: int
    in_objects: int


class Joining(NamedTuple):
    """A broker that joins those which share a store."""

    node: Node
    software: str
    #: How long it may be silent before others take its place, and how often it reports.
    session_ms: int
    heartbeat_ms: int
    #: Called on the loop, perhaps again: others have taken its place.
    fenced: Callable[[], None]
    #: Of each acknowledged record, as the operator says; 0: they are counted.
    copies: int = 0


class Objects(Protocol):
    """Objects that have the old records of a store; its methods are for any thread."""

    @property
    def shown(self) -> str:
        """Where they are."""
        ...

    @property
    def traffic(self) -> Traffic: ...

    def sizes(self) -> EntryBytes: ...

    def not_sealed(self) -> str | None:
        """Why records that should be in objects are not."""
        ...

    def check(self) -> None:
        """Raises StorageFailed if they cannot be listed, as without credentials."""
        ...

    def strays(self) -> Iterator[tuple[str, int]]:
        """Objects of the store that it does not know, with their sizes. Raises StorageFailed."""
        ...

    def missing(self) -> Sequence[str]:
        """Objects that the store needs, and that are not there. Raises StorageFailed."""
        ...


class StoreSnapshot(Protocol):
    """All committed data, as of when it was taken."""

    def restore(self, stage: Callable[[], object] = lambda: None) -> None:
        """Discards what is staged, and replaces all data in one commit, with what `stage` adds.

        Raises StorageFailed.
        """
        ...

    def delete(self) -> None: ...


class Oddity(NamedTuple):
    """Of the files of a log; a problem, or only worth a note."""

    is_problem: bool
    what: str


class FilesCheck(Protocol):
    """Checks the files of an engine that stores logs as files."""

    #: Checked so far, with their indexes.
    segments: int

    def log(self, partition_id: int, name: LogName) -> Iterator[Oddity]:
        """`name`: as its topic says."""
        ...

    def strays(self) -> Iterator[Oddity]:
        """Folders of no partition."""
        ...


class Edges(NamedTuple):
    """Of a log after a power cut."""

    is_shorter: bool
    #: Nothing below it is left.
    first_offset: int
    end_offset: int


class CutLogs(Protocol):
    """Logs that a power cut may have made shorter; rows of their partitions may say more."""

    def edges(self) -> Iterator[tuple[int, Edges]]:
        """By partition id. Raises StorageFailed."""
        ...

    def settled(self, partition_id: int) -> None:
        """Stages that the rows of a partition fit its log."""
        ...


@dataclass(slots=True, eq=False)
class Storage:
    """One opened store: log, rows and commit belong together. `commit.close()` closes it."""

    log: LogStore
    state: StateStore
    commit: Commit
    info: StorageInfo
    #: To be called every `flush.interval.ms`; None where the engine or the policy needs none.
    start_flush: Callable[[], None] | None = None
    #: None in memory.
    room: Callable[[], StoreRoom] | None = None
    #: Raises StorageFailed. None in simulations, and in a database.
    take_snapshot: Callable[[], StoreSnapshot] | None = None
    #: None in memory.
    reserve: Reserve | None = None
    #: To be called now and then: commits fail when the file of the store was removed.
    check_file: Callable[[], None] | None = None
    #: Stages that the next start has at least this leader epoch. None in memory.
    raise_leader_epoch: Callable[[int], None] | None = None
    #: To be called after a process that reads the store was killed. None in memory.
    remove_killed_readers: Callable[[], object] | None = None
    #: None of an engine without files for logs.
    check_files: FilesCheck | None = None
    #: None where an engine refuses a store with such logs.
    cut_logs: CutLogs | None = None
    #: To be called now and then: begins the upkeep that is due. None where commits begin all of it.
    keep_up: Callable[[], None] | None = None
    #: Why the commit under way takes long. None where commits end in the call.
    waits_for: Callable[[], str | None] | None = None
    #: Why tables of which nothing is needed stay. None of an engine that drops none.
    not_dropped: Callable[[], Collection[str]] | None = None
    #: Lets the event loop itself send commits, which is faster than a thread. None where it waits
    #: for no server.
    send_on_loop: Callable[[Sockets], None] | None = None
    #: Since the start, those that the store had lost. None where it loses none while it is open.
    repeated_commits: Callable[[], int] | None = None
    #: Since the start. None where there are no sessions.
    sessions_taken: Callable[[], int] | None = None
    #: None of an engine without objects, and of a store that has none.
    objects: Objects | None = None
    #: Reads the newest row by table and key, also of a scope of another broker. None where a broker
    #: has all rows.
    fetch_row: Callable[[str, bytes], Pending[bytes | StorageFailed | None]] | None = None
    #: None of a store that one broker has alone; with it comes the right to change shared rows.
    membership: Membership | None = None
    cluster_changes: ClusterChanges | None = None
    #: None where a broker has its store alone.
    sealed_log: SealedLog | None = None
    #: None where they are not counted.
    copies: Copies | None = None


class StoreBeside(Protocol):
    """A store that a broker may have open: read-only, each call as of the newest commit."""

    @property
    def log(self) -> LogStore: ...

    @property
    def state(self) -> StateStore: ...

    def entries(
        self, partition_id: int, offset: int, end_offset: int, max_bytes: int
    ) -> list[tuple[int, bytes]]:
        """Entries of one or several batches, each with its last offset."""
        ...

    def last_offset(self, partition_id: int) -> int:
        """Of the newest batch; -1: there is none."""
        ...

    def close(self) -> None: ...


class ClosedStore(Protocol):
    """A store that is not open; its methods raise StorageUnusable."""

    @property
    def path(self) -> Path | None:
        """None of a database."""
        ...

    @property
    def url(self) -> str: ...

    @property
    def shown(self) -> str:
        """Without a password."""
        ...

    @property
    def pages(self) -> str:
        """What is said of pages in which `check_pages` finds no damage."""
        ...

    @property
    def has_checked_pages(self) -> bool:
        """That they are whole is known."""
        ...

    @property
    def not_compacted(self) -> str:
        """What `compact` leaves as it is, for its message."""
        ...

    def exists(self) -> bool:
        """Whether there is anything in its place."""
        ...

    def has_store(self) -> bool: ...

    def last_end(self) -> str:
        """What a power cut has done to the store, or could have done."""
        ...

    def check_pages(self) -> str | None:
        """The first damage of the pages, or None."""
        ...

    def compact(self, report: Callable[[float], object]) -> tuple[int, int]:
        """Its size in bytes before and after; reports the written share now and then."""
        ...

    def made_whole(self) -> AbstractContextManager[str]:
        """The URL of a new store, which gets this place at the end."""
        ...


class StoreFolder(ClosedStore, Protocol):
    """The folder of a store: of one that a process has open, too, for `beside` and `open_log`."""

    @property
    def path(self) -> Path: ...

    def beside(self, known_whole: bool) -> StoreBeside:
        """A store that is `known_whole` is not checked."""
        ...

    def open_log(self) -> LogStore:
        """To be read beside a broker, by a process of its own. Raises StorageFailed."""
        ...


@dataclass(frozen=True)
class Engine:
    scheme: str
    #: What follows `scheme://`, for messages.
    example: str
    #: What follows `scheme://`, the flush policy, the size of the map, whether only to read, and
    #: the way to the event loop for reads that respond later.
    open: Callable[[str, Flush, int | None, bool, ToLoop | None], Storage]
    #: None for memory and databases.
    folder: Callable[[Path], StoreFolder] | None = None
    #: By what follows `scheme://`; None of an engine with folders.
    database: Callable[[str], ClosedStore] | None = None
    #: Opens a store as one of several brokers. None where a broker has its store alone.
    join: Callable[[str, Flush, ToLoop, Joining], Storage] | None = None
