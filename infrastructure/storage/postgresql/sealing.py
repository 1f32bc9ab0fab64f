"""Sealing: entries of full tails, and of small objects, are written to an object, by a thread with
its own connections.

The entries are read beside commits, which may change where some of them are; the commit that seals
the object leaves those out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from domain.errors import StorageFailed
from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread
from infrastructure.storage.objects.errors import ObjectsFailed
from infrastructure.storage.postgresql import questions
from infrastructure.storage.postgresql.asking import asking
from infrastructure.storage.postgresql.caught_up import connected
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.entries import Entry, headers_of
from infrastructure.storage.postgresql.link import CLOSE_S
from infrastructure.storage.postgresql.object_entries import NewObject, ObjectData, Part
from infrastructure.storage.postgresql.object_rows import give_up, new_object
from infrastructure.storage.postgresql.questions import UNREADABLE, Answer, Ask
from infrastructure.storage.postgresql.retry_pause import LONGEST_S, RETRY_S, RetryPause
from infrastructure.storage.postgresql.row_reading import failure_of
from infrastructure.storage.postgresql.runs import Span, spans, tail_of
from infrastructure.storage.postgresql.server import Rows, Server, reason_of
from infrastructure.storage.postgresql.session import Session
from infrastructure.storage.postgresql.small_objects import SmallObjects

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

#: Read at once.
_READ_BYTES = 4 << 20
_MOST_RUNS = 10_000
#: Entries in one commit.
_MOST_ENTRIES = 20_000

#: Partition id, and where its entries are.
_LogSpan = tuple[int, Span]
_Sources = tuple[int, ...]


def _place(log_span: _LogSpan) -> tuple[int, int]:
    """In an object the entries of a log follow each other, in order."""
    partition_id, span = log_span
    return partition_id, span.first_offset


class _Problem(Exception):
    """Why there is no object. `source`: the tail that cannot be read."""

    def __init__(self, why: str, source: int | None = None) -> None:
        super().__init__(why)
        self.source = source


class _Aside(NamedTuple):
    """What is left alone for a while."""

    why: str
    until_s: float


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
        self._problem: str | None = None
        self._pause = RetryPause(RETRY_S)
        #: Tails that could not be read.
        self._aside: dict[int, _Aside] = {}
        #: The newest object, if there is one. For the thread.
        self._newest: list[int] = []

    # ---- on the loop

    @property
    def problem(self) -> str | None:
        """Why the entries of full tails stay where they are."""
        return self._problem or next((one.why for one in self._aside.values()), None)

    def look(self) -> None:
        now_s, tails = monotonic(), self._contents.tails
        tails.aside = {tail for tail, one in self._aside.items() if one.until_s > now_s}
        sources = tuple(one for one in tails.to_seal if one not in tails.aside)
        # The others are gone, or are not to be read any more.
        self._aside = {
            tail: one for tail, one in self._aside.items() if tail in tails.aside or tail in sources
        }
        if not sources:
            self._problem = None
        elif not self.is_busy and self._pause.is_over:
            self.is_busy = self._thread.put(sources)

    def _written(self, _: _Sources, new: NewObject | _Problem | None) -> None:
        if isinstance(new, NewObject):
            self.is_busy = self._seal(new)
        elif new is None:
            self.is_busy = False
        elif new.source is None:
            self._failed(str(new))
        else:
            self.is_busy = False
            self._aside[new.source] = _Aside(str(new), monotonic() + LONGEST_S)
            self.look()  # the others do not wait for the next commit

    def sealed(self, new: NewObject, failure: StorageFailed | None) -> None:
        if failure is not None:
            self._failed(failure.message)
        elif not self._contents.runs.are_in(new.number):
            self._failed(None)  # all entries have changed while it was written
        else:
            self.is_busy, self._problem = False, None
            self._pause.succeeded()

    def _failed(self, why: str | None) -> None:
        self.is_busy = False
        self._problem = why or self._problem
        self._pause.failed()

    def close(self) -> None:
        self._thread.close(CLOSE_S)

    # ---- in the thread

    def _write(self, sources: _Sources) -> NewObject | _Problem | None:
        """None: there is nothing to do any more."""
        try:
            return self._new_object(sources)
        except _Problem as problem:
            return problem
        except Exception as error:  # the thread goes on
            return _Problem(failure_of(error, self._server).message)

    def _new_object(self, sources: _Sources) -> NewObject | None:
        with closing(connected(self._server, self._session)) as connection:
            give_up(connection, self._newest)  # unless a commit has sealed it
            losses = self._contents.losses
            parts, data = self._read(connection, sources)
            if not parts:
                return None
            row = new_object(connection, self._session.number)
        if row is None:
            return None
        number, name = row
        self._newest = [number]
        try:
            self._bucket.put(name, data.data)
        except ObjectsFailed as error:
            raise _Problem(str(error)) from error
        return NewObject(number, name, len(data.data), parts, data.entries, losses)

    def _read(self, connection: Rows, sources: _Sources) -> tuple[list[Part], ObjectData]:
        def execute(statement: str, values: Mapping[str, int]) -> Answer:
            found = connection.execute(statement.encode(), values, prepare=False, binary=True)
            return found.fetchall()

        contents = self._contents
        small = contents.tails.small(sources)
        asking_of: Callable[[int], Ask] = partial(
            asking, execute, contents.runs, contents.tails, lambda: self._bucket
        )
        most_bytes, most_entries = contents.tails.object_bytes, _MOST_ENTRIES
        most_runs = _MOST_RUNS
        if small:
            objects = SmallObjects(connection, self._bucket, small, _MOST_ENTRIES)
            if objects.is_full:
                contents.tails.joined(objects.numbers[0])
                return [], ObjectData()
            asking_of, sources = objects.asking, objects.numbers
            # All that they have, also if each entry is a run.
            most_bytes, most_entries = objects.size_bytes + 1, _MOST_ENTRIES + 1
            most_runs = _MOST_ENTRIES
        parts: list[Part] = []
        data = ObjectData()

        def is_full() -> bool:
            return len(data.data) >= most_bytes or len(data.entries) >= most_entries

        log_spans = islice(self._log_spans(sources), most_runs)
        for partition_id, span in sorted(log_spans, key=_place):
            if is_full():
                break
            ask = asking_of(partition_id)
            before, left = len(data.data), span
            while not is_full():
                room = most_bytes - len(data.data)
                try:
                    found = ask(questions.BATCHES, left, min(room, _READ_BYTES))
                except UNREADABLE as error:
                    if tail_of(contents.runs.of(partition_id), left.first_offset) != span.tail:
                        return parts, data  # the rest has changed meanwhile
                    raise _Problem(reason_of(error), span.tail) from error
                data.add(
                    Entry(partition_id, last_offset, times or b"", batches, headers_of(batches))
                    for last_offset, batches, times in found
                )
                # Behind the last entry of a log there may be offsets without any.
                next_offset = found[-1][0] + 1 if found else span.end_offset
                left = left._replace(first_offset=min(next_offset, span.end_offset))
                if left.first_offset == span.end_offset:
                    break
            read = span._replace(end_offset=left.first_offset)
            parts.append(Part(partition_id, read, len(data.data) - before))
        return parts, data

    def _log_spans(self, sources: Sequence[int]) -> Iterator[_LogSpan]:
        """Of tails to which nothing is appended any more."""
        runs, ends, wanted = self._contents.runs, self._contents.ends, frozenset(sources)
        for partition_id in runs.partition_ids():
            for span in spans(runs.of(partition_id), 0):
                if span.tail in wanted:
                    end_offset = min(span.end_offset, ends.get(partition_id, 0))
                    if end_offset > span.first_offset:
                        span = span._replace(end_offset=end_offset)
                    yield partition_id, span
