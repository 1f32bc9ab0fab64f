"""ObjectCommits: the batches of large commits go into an object each, and not through PostgreSQL.

The object is written first. The statement that says which entries are in it is the commit. While
the bucket fails, the batches go into the current tail, as those of small commits do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from infrastructure.storage.objects.errors import ObjectsFailed
from infrastructure.storage.postgresql.object_entries import NewObject, ObjectData
from infrastructure.storage.postgresql.object_rows import give_up, new_object
from infrastructure.storage.postgresql.retry_pause import RetryPause
from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.staged import Staged

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

#: Of batches. PostgreSQL takes smaller commits faster than a bucket does; while one object is
#: written, more records wait for the next commit: from some megabytes a second on, most go there.
LARGE_BYTES = 64 << 10
#: After a failure: the next attempt delays a commit.
RETRY_S = 30.0


class ObjectCommits:
    """For the thread of commits."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self.large_bytes = LARGE_BYTES
        self._pause = RetryPause(RETRY_S)
        #: Why they go into the current tail: until an object was written.
        self.problem: str | None = None
        self.is_writing = False
        #: Objects of commits that failed.
        self.given_up: list[int] = []

    def takes(self, staged: Staged) -> bool:
        """Compaction replaces entries in the current tail."""
        return (
            staged.batch_bytes >= self.large_bytes and not staged.rewritten and self._pause.is_over
        )

    def written(self, connection: Rows, session: int, staged: Staged) -> NewObject | None:
        """None: it cannot be written. Raises psycopg.Error."""
        give_up(connection, self.given_up)
        self.given_up.clear()
        found = new_object(connection, session)
        if found is None:
            return None  # the session is over
        data = ObjectData()
        data.add(sorted(staged.added))
        self.is_writing = True
        try:
            self._bucket.put_soon(found.name, data.data)
        except ObjectsFailed as error:
            self.problem = str(error)
            self._pause.failed()
            give_up(connection, [found.number])
            return None
        finally:
            self.is_writing = False
        self._pause.succeeded()
        self.problem = None
        return NewObject(found.number, found.name, len(data.data), (), data.entries)
