"""Sealing: entries of full tails are written to an object, by a thread with its own connections.

The row of the object is there before the object, so that nothing is forgotten in the bucket. The
entries are read beside commits, which may change where some of them are; the commit that seals the
object leaves those out.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING

import psycopg

from domain.errors import StorageFailed
from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread
from infrastructure.storage.objects.errors import ObjectDamaged, ObjectsFailed
from infrastructure.storage.postgresql import questions
from infrastructure.storage.postgresql.asking import asking
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.entries import Entry
from infrastructure.storage.postgresql.link import CLOSE_S
from infrastructure.storage.postgresql.pieces import Pieces
from infrastructure.storage.postgresql.questions import Answer
from infrastructure.storage.postgresql.runs import Span, spans
from infrastructure.storage.postgresql.seal import NewObject, Part
from infrastructure.storage.postgresql.server import Rows, Server
from infrastructure.storage.postgresql.session import Session

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

#: After a failure.
RETRY_S = 10.0
#: Read at once.
_READ_BYTES = 4 << 20
_MOST_RUNS = 10_000

_NEW_OBJECT = """
    insert into ottla_tails (written, object, session)
    select 0, (select id from ottla_store) || '/' || %s, session
    from ottla_fences where session = %s returning n, object
"""
#: It may have been sealed by a commit whose outcome is not known here.
_GIVE_UP = """
    update ottla_tails set deleted = clock_timestamp() where n = %s and session is not null
"""
#: Partition id, and where its entries are.
_LogSpan = tuple[int, Span]


class Sealing:
    def __init__(
        self,
        server: Server,
        session: Session,
        contents: Contents,
        bucket: Bucket,
        seal: Callable[[NewObject], bool],
        to_loop: ToLoop,
    ) -> None:
        """`seal` begins a commit, after which `sealed` is to be called; or returns False."""
        self._server = server
        self._session = session
        self._contents = contents
        self._bucket = bucket
        self._seal = seal
        self._thread = LoadingThread(self._write, self._written, to_loop, "ottla-seals")
        self.is_busy = False
        #: Why the entries of full tails stay where they are.
        self.problem: str | None = None
        self._not_before_s = 0.0

    # ---- on the loop

    def look(self) -> None:
        source = self._contents.tails.to_seal
        if source is None:
            self.problem = None
        elif not self.is_busy and monotonic() >= self._not_before_s:
            self.is_busy = self._thread.put(source)

    def _written(self, _: int, new: NewObject | str | None) -> None:
        if isinstance(new, NewObject):
            self.is_busy = self._seal(new)
        elif new is None:
            self.is_busy = False
        else:
            self._failed(new)

    def sealed(self, new: NewObject, failure: StorageFailed | None) -> None:
        if failure is not None:
            self._failed(failure.message)
        elif not self._contents.runs.are_in(new.number):
            self._failed("the entries of an object have changed while it was written")
        else:
            self.is_busy, self.problem = False, None

    def _failed(self, why: str) -> None:
        self.is_busy, self.problem = False, why
        self._not_before_s = monotonic() + RETRY_S

    def close(self) -> None:
        self._thread.close(CLOSE_S)

    # ---- in the thread

    def _write(self, source: int) -> NewObject | str | None:
        """Or why it could not be written. None: there is nothing to do any more."""
        log_spans = self._log_spans(source)
        if not log_spans:
            return None
        try:
            with closing(self._server.connect(again=True)) as connection:
                parts, pieces = self._read(connection, log_spans)
                values = secrets.token_hex(16), self._session.number
                found = connection.execute(_NEW_OBJECT, values).fetchall()
            if not found:
                return "the broker has another session by now"
            [(number, name)] = found
        except psycopg.Error as error:
            return self._server.failed("could not be read", error).message
        except (ObjectsFailed, ObjectDamaged, StorageFailed) as error:
            return str(error)
        try:
            self._bucket.put(name, pieces.data)
        except ObjectsFailed as error:
            self._give_up(number)
            return str(error)
        return NewObject(number, name, len(pieces.data), parts, pieces.pieces)

    def _log_spans(self, source: int) -> list[_LogSpan]:
        """Of a tail to which nothing is appended any more."""
        contents = self._contents
        found: list[_LogSpan] = []
        for partition_id, first_offset in contents.runs.all_in(source)[:_MOST_RUNS]:
            for span in islice(spans(contents.runs.of(partition_id), first_offset), 1):
                end_offset = min(span.end_offset, contents.ends.get(partition_id, 0))
                if end_offset > first_offset:
                    span = span._replace(end_offset=end_offset)
                if span.tail == source:  # still
                    found.append((partition_id, span))
        return found

    def _give_up(self, number: int) -> None:
        """If it fails, the object is found at a start."""
        with suppress(psycopg.Error), closing(self._server.connect(again=True)) as connection:
            connection.execute(_GIVE_UP, (number,))

    def _read(self, connection: Rows, log_spans: list[_LogSpan]) -> tuple[list[Part], Pieces]:
        def execute(statement: str, values: Mapping[str, int]) -> Answer:
            found = connection.execute(statement.encode(), values, prepare=False, binary=True)
            return found.fetchall()

        tails = self._contents.tails
        parts: list[Part] = []
        pieces = Pieces(tails.piece_bytes)
        for partition_id, span in log_spans:
            if len(pieces.data) >= tails.object_bytes:
                break
            ask = asking(execute, tails, lambda: self._bucket, partition_id)
            before, left = len(pieces.data), span
            while len(pieces.data) < tails.object_bytes:
                found = ask(questions.BATCHES, left, _READ_BYTES)
                pieces.add(
                    Entry(partition_id, last_offset, times or b"", data)
                    for last_offset, data, times in found
                )
                # Behind the last entry of a log there may be offsets without any.
                next_offset = found[-1][0] + 1 if found else span.end_offset
                left = left._replace(first_offset=min(next_offset, span.end_offset))
                if left.first_offset == span.end_offset:
                    break
            read = span._replace(end_offset=left.first_offset)
            parts.append(Part(partition_id, read, len(pieces.data) - before))
        return parts, pieces
