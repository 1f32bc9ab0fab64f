"""The points of the engine of PostgreSQL. Only imported where it is used: that takes long."""

from __future__ import annotations

from typing import Any

from infrastructure.storage.engine import Storage
from infrastructure.storage.postgresql import opening
from infrastructure.storage.postgresql.dropping import Dropping
from infrastructure.storage.postgresql.garbage import Garbage
from infrastructure.storage.postgresql.loop_commits import LoopCommits
from infrastructure.storage.postgresql.object_commits import ObjectCommits
from infrastructure.storage.postgresql.sealing import Sealing
from infrastructure.storage.postgresql.session import Session
from infrastructure.storage.postgresql.writer import Writer
from tests.crash.passages import Passages


def name_postgresql(passages: Passages) -> None:
    around = passages.around
    full, begun = "postgresql: a tail is full", "postgresql: a new tail has begun"
    around(Writer, "_begin_tail", full, begun)
    around(Writer, "_move", "postgresql: entries not moved", "postgresql: entries moved")
    unused, dropped = "postgresql: a tail is not needed", "postgresql: a tail is dropped"
    around(Dropping, "_drop", unused, dropped)
    not_written, written = (
        "postgresql: an object is not written",
        "postgresql: an object is written",
    )
    around(Sealing, "_write", not_written, written)
    not_sealed, sealed = "postgresql: an object is not sealed", "postgresql: an object is sealed"
    around(Writer, "_seal", not_sealed, sealed)
    not_written, written = (
        "postgresql: the object of a commit is not written",
        "postgresql: the object of a commit is written",
    )
    around(ObjectCommits, "written", not_written, written)
    there, gone = "postgresql: garbage is not deleted", "postgresql: garbage is deleted"
    around(Garbage, "delete", there, gone)
    not_sent, persisted = "postgresql: not sent", "postgresql: persisted, not yet known"
    around(Session, "commit", not_sent, persisted)
    around(LoopCommits, "send", not_sent, "")
    # The response is there.
    around(LoopCommits, "_readable", persisted, "")
    around(Session, "_resume", "postgresql: connects again", "postgresql: has a new session")
    joined = opening.joined

    def named(*arguments: Any, **others: Any) -> Storage:
        passages.at("start: before the store is opened")
        storage = joined(*arguments, **others)
        passages.at("start: store opened")
        return storage

    opening.joined = named
