"""The table of named points: where a broker dies, and what makes it pass there.

A point is a moment of `passages.py`. The passage at which a broker dies is drawn from 1 to `most`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

FLUSHES = ("commit", "interval", "os")
FLUSHES_OF_A_DATABASE = ("commit", "os")


class When(Enum):
    FIRST_START = "in a new folder"
    START = "before it is ready"
    #: While the store is read after a restart, or under load.
    RUNNING = "under load"
    STOPPING = "after SIGTERM, under load"


@dataclass(frozen=True)
class Point:
    name: str
    when: When
    most: int = 1
    flushes: tuple[str, ...] = FLUSHES
    #: Its store has a map that is full at once; of files: some commits fail.
    full_map: bool = False
    #: Connections of its run end.
    connects_again: bool = False


def _of_each_commit(kind: str, most: int, *, again: bool = False) -> list[Point]:
    moments = ["staged, first", "before the commit", "committed, no response sent"]
    if again:
        moments.insert(1, "staged, again")
    return [Point(f"{kind}: {moment}", When.RUNNING, most) for moment in moments]


def _all_of(when: When, *names: str) -> list[Point]:
    return [Point(name, when) for name in names]


POINTS: tuple[Point, ...] = (
    *_all_of(
        When.FIRST_START,
        "first start: empty folder",
        "first start: tables created, no id yet",
        "first start: store created, not renamed",
        "first start: store renamed",
        "cluster id: staged, first",
        "cluster id: before the commit",
        "cluster id: committed, no response sent",
    ),
    *_all_of(
        When.START,
        "start: before the store is opened",
        "start: store opened",
        "start: topics read",
        "start: listening, not yet ready",
        "start: doomed read",
        "start: trimming read",
        "start: offsets read",
        "start: groups read",
        "start: upkeep begins",
    ),
    Point("start: root synced, not saved", When.START, flushes=("interval",)),
    Point("start: root saved", When.START, flushes=("interval",)),
    Point("start: root not removed", When.START, flushes=("os",)),
    Point("start: root removed", When.START, flushes=("os",)),
    Point("recovery: begins", When.RUNNING, 4),
    Point("recovery: headers read, not replayed", When.RUNNING, 4),
    Point("recovery: done", When.RUNNING, 4),
    *_of_each_commit("batch", 100, again=True),
    *_of_each_commit("producer ids", 3),
    *_of_each_commit("partition ids", 5),
    *_of_each_commit("topic", 5),
    *_of_each_commit("growth", 3),
    *_of_each_commit("deletion", 3),
    *_of_each_commit("doomed partition", 3, again=True),
    *_of_each_commit("slice", 5),
    *_of_each_commit("last slice", 2),
    *_of_each_commit("trimming", 3),
    *_of_each_commit("trimmed slice", 3),
    *_of_each_commit("last trimmed slice", 3),
    *_of_each_commit("trimming, removed", 3),
    Point("retention: log start not moved", When.RUNNING, 3),
    Point("retention: moved", When.RUNNING, 3),
    *_of_each_commit("snapshot, removed", 2),
    *_of_each_commit("doomed partition, removed", 2),
    *_of_each_commit("snapshot", 5),
    *_of_each_commit("producer", 5, again=True),
    *_of_each_commit("producer, removed", 2),
    *_of_each_commit("offsets", 50, again=True),
    *_of_each_commit("groups", 10),
    Point("within a commit", When.RUNNING, 100),
    Point("the first of several responses is sent", When.RUNNING, 50),
    Point("all responses of a pass are sent", When.RUNNING, 50),
    Point("the map is full", When.RUNNING, full_map=True),
    Point("the map has grown", When.RUNNING, full_map=True),
    Point("a commit has failed, no response sent", When.RUNNING, full_map=True),
    Point("reload: begins", When.RUNNING, full_map=True),
    Point("reload: done", When.RUNNING, full_map=True),
    Point("map has grown, root not saved", When.RUNNING, flushes=("interval",), full_map=True),
    Point("map has grown, root saved", When.RUNNING, flushes=("interval",), full_map=True),
    Point("flush: root synced, not saved", When.RUNNING, 5, flushes=("interval",)),
    Point("flush: root saved", When.RUNNING, 5, flushes=("interval",)),
    Point("flush: before the fsync", When.RUNNING, 5, flushes=("interval",)),
    Point("flush: after the fsync", When.RUNNING, 5, flushes=("interval",)),
    Point("stop: synced, root not removed", When.STOPPING, flushes=("interval", "os")),
    Point("stop: synced, root removed", When.STOPPING, flushes=("interval", "os")),
    *_all_of(
        When.STOPPING,
        "stop: no new connections",
        "stop: drained",
        "stop: last snapshots staged",
        "stop: before the store is closed",
        "stop: before the fsync",
        "stop: after the fsync",
        "stop: the store is closed",
    ),
)

#: With committed offsets in SQLite, which commits separately.
SQLITE_POINTS: tuple[Point, ...] = (
    Point("sqlite: before it is written", When.RUNNING, 20),
    Point("sqlite: written, no response sent", When.RUNNING, 20),
    Point("sqlite: within a commit", When.RUNNING, 20),
    *_all_of(When.STOPPING, "stop: the database is closed"),
)

#: Within the engine of files.
FILES_POINTS: tuple[Point, ...] = (
    Point("files: not written", When.RUNNING, 50),
    Point("files: written, no row", When.RUNNING, 50),
    Point("files: before the fsync", When.RUNNING, 50, flushes=("commit",)),
    Point("files: synced, no row", When.RUNNING, 50, flushes=("commit",)),
    Point("files: rows staged", When.RUNNING, 100),
    Point("files: committed, not applied", When.RUNNING, 100),
    Point("files: applied", When.RUNNING, 100),
    Point("index: only the time index is written", When.RUNNING, 3),
    Point("index: written", When.RUNNING, 3),
    Point("index: begun", When.RUNNING, 10),
    Point("index: segment not ended", When.RUNNING, 10),
    Point("index: segment ended", When.RUNNING, 10),
    Point("folder: made", When.RUNNING, 3),
    Point("folder: no topic id", When.RUNNING, 3),
    Point("folder: topic id written", When.RUNNING, 3),
    Point("folder: has lost its name, not committed", When.RUNNING, 2),
    Point("segment: committed, not removed", When.RUNNING, 10),
    Point("segment: a file is removed", When.RUNNING, 20),
    Point("segment: removed", When.RUNNING, 10),
    Point("load: files of no commit removed", When.RUNNING),
    Point("load: tails not cut", When.RUNNING),
    Point("load: tails cut", When.RUNNING),
    Point("flush: removed files are there", When.RUNNING, 5, flushes=("interval",)),
    Point("flush: removed files are gone", When.RUNNING, 5, flushes=("interval",)),
)

#: Within the engine of PostgreSQL.
POSTGRESQL_POINTS: tuple[Point, ...] = (
    Point("postgresql: not sent", When.RUNNING, 100),
    Point("postgresql: persisted, not yet known", When.RUNNING, 100),
    Point("postgresql: a tail is full", When.RUNNING, 5),
    Point("postgresql: a new tail has begun", When.RUNNING, 5),
    Point("postgresql: entries not moved", When.RUNNING),
    Point("postgresql: entries moved", When.RUNNING),
    Point("postgresql: a tail is not needed", When.RUNNING, 3),
    Point("postgresql: a tail is dropped", When.RUNNING, 3),
    Point("postgresql: connects again", When.RUNNING, connects_again=True),
    Point("postgresql: has a new session", When.RUNNING, connects_again=True),
)
#: Of a store in PostgreSQL with objects, beside the others.
OBJECT_POINTS: tuple[Point, ...] = (
    Point("postgresql: an object is not written", When.RUNNING, 5),
    Point("postgresql: an object is written", When.RUNNING, 5),
    Point("postgresql: an object is not sealed", When.RUNNING, 5),
    Point("postgresql: an object is sealed", When.RUNNING, 5),
    Point("postgresql: garbage is not deleted", When.RUNNING, 3),
    Point("postgresql: garbage is deleted", When.RUNNING, 3),
)
#: With commit.to=objects.
OBJECT_COMMIT_POINTS: tuple[Point, ...] = (
    Point("postgresql: the object of a commit is not written", When.RUNNING, 5),
    Point("postgresql: the object of a commit is written", When.RUNNING, 5),
)
#: Of LMDB: a folder with its file, map, recovery point and fsyncs.
_OF_LMDB = re.compile("first start:|map|fsync|root|reload|a commit has failed|flush:|synced")

#: Of files too, where a log is compacted.
FILES_POINTS_OF_COMPACTION = (
    "rewrite: .cleaned is empty",
    "rewrite: .cleaned is being written",
    "swap: committed, not begun",
    "swap: a file is .swap",
    "swap: a file is in its place",
    "swap: in place, row not changed",
    "swap: row changed",
    "swap: done",
    "segment: committed, not removed",
    "segment: a file is removed",
)

BY_NAME = {
    point.name: point
    for point in (
        *POINTS,
        *SQLITE_POINTS,
        *FILES_POINTS,
        *POSTGRESQL_POINTS,
        *OBJECT_POINTS,
        *OBJECT_COMMIT_POINTS,
    )
}


ENGINES = ("lmdb", "files")


def points_of(flush: str, engine: str = "lmdb") -> list[Point]:
    """Files: batches are not in the map, which is rarely full. There commits fail otherwise."""
    points = POINTS
    if engine == "files":
        others = [point for point in POINTS if " map " not in f" {point.name}"]
        points = (*others, *FILES_POINTS)
    elif engine == "postgresql":
        points = (*(one for one in POINTS if not _OF_LMDB.search(one.name)), *POSTGRESQL_POINTS)
    return [point for point in points if flush in point.flushes]
