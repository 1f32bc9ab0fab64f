"""Reading: questions about batches that are not in memory, asked over a connection of their own.

A question is asked in a thread, and its answer waits until the read is repeated. An answer counts
only while nothing of its log was removed or replaced since. Objects respond late: of a store with
objects several threads ask, which share the connection.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, NamedTuple

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from domain.errors import StorageFailed
from infrastructure.storage.engine import ToLoop
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.loading_thread import LoadingThread, resolve_all
from infrastructure.storage.objects.address import parse_objects
from infrastructure.storage.objects.opening import open_bucket
from infrastructure.storage.postgresql import questions
from infrastructure.storage.postgresql.asking import asking
from infrastructure.storage.postgresql.caught_up import connected
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.fence import ALONE
from infrastructure.storage.postgresql.link import CLOSE_S, Link
from infrastructure.storage.postgresql.questions import Answer, Kind, TailGone
from infrastructure.storage.postgresql.row_reading import RowReading, failure_of
from infrastructure.storage.postgresql.runs import Span, spans
from infrastructure.storage.postgresql.server import Rows, Server
from infrastructure.storage.postgresql.session import Session
from infrastructure.storage.postgresql.tables import OBJECTS_URL
from infrastructure.storage.postgresql.timeline import first_epoch
from infrastructure.storage.repositories.leader_rows import LEADERS, epoch_of, key_of, leader_of

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

#: For callers that come back for them: one may ask for each of a thousand partitions. Those that
#: are abandoned, or asked for ahead, stay as long.
_ANSWERS_BYTES = 80 << 20
#: What an answer takes besides its data.
_EACH_BYTES = 1024
#: Asked for at once, also if a client wants more: it gets the rest with its next read.
LOADED_BYTES = 4 << 20
#: For questions about objects.
_OBJECT_THREADS = 7
#: While entries are moved away.
_MOST_ATTEMPTS = 30
#: While a commit of this broker moves some, which may be persisted already.
_PAUSE_S = 0.05
#: A failure is for the callers that waited for it: the server may be back soon.
_FAILURE_S = 1.0
#: A read that waits stops the loop, with all clients.
_LONGEST_WAIT_S = 2.0

_LEADER = f"""
    select value from ottla_rows
    where "table" = '{LEADERS}' and place = %(place)s and value is not null
"""


class Question(NamedTuple):
    kind: Kind
    partition_id: int
    values: tuple[int, ...]


_Thread = LoadingThread[Question, Answer | StorageFailed]


class _Known(NamedTuple):
    answer: Answer | StorageFailed
    #: Of the log, before it was asked.
    changes: int
    #: How many callers a failure is for.
    waited: int
    answered_at: float
    size_bytes: int

    def counts(self, changes: int) -> bool:
        if isinstance(self.answer, StorageFailed):
            return monotonic() - self.answered_at < _FAILURE_S
        return self.changes == changes


class Reading:
    def __init__(
        self,
        server: Server,
        connection: Rows,
        session: Session,
        contents: Contents,
        to_loop: ToLoop | None,
        bucket: Bucket | None = None,
    ) -> None:
        self._server = server
        self._link = Link(connection)
        self._session = session
        self._contents = contents
        self._bucket = bucket
        #: For the connection.
        self._lock = threading.Lock()
        #: The first one is for questions that begin in a table.
        self._threads: list[_Thread] = []
        if to_loop is not None:
            count = 1 if bucket is None else 1 + _OBJECT_THREADS
            self._threads = [
                LoadingThread(self._execute, self._answered, to_loop) for _ in range(count)
            ]
        #: Questions of each thread that wait.
        self._loads = [0] * len(self._threads)
        self._waiting: dict[Question, list[Pending[None]]] = {}
        #: The oldest first.
        self._answers: dict[Question, _Known] = {}
        self._answers_bytes = 0
        #: The number of changes of the log at that time, and the thread.
        self._begun_at: dict[Question, tuple[int, int]] = {}
        #: Of a read that took too long.
        self._late: threading.Thread | None = None
        #: Of rows that other brokers have in memory.
        self.row_reading: RowReading | None = None
        #: Of others that use its connection.
        self.more_threads: list[LoadingThread[Any, Any]] = []
        #: To be called, from any thread, if the database does.
        self.lacks_commits: Callable[[], object] = lambda: None

    def ask(self, question: Question, waits: bool = False) -> Answer:
        """Raises NotInMemory or StorageFailed."""
        changes = self._contents.changes_of(question.partition_id)
        known = self._taken(question)
        if known is not None and known.counts(changes):
            if isinstance(known.answer, StorageFailed) and known.waited > 1:
                self._keep(question, known._replace(waited=known.waited - 1))
            return _given(known.answer)
        if not self._threads:
            return _given(self._execute(question))
        if waits or not self._begun(question, changes):
            return _given(self._execute_soon(question))
        loading: Pending[None] = Pending()
        self._waiting[question].append(loading)
        raise NotInMemory(loading)

    def has(self, question: Question) -> bool:
        """Whether `ask` begins nothing."""
        known = self._answers.get(question)
        changes = self._contents.changes_of(question.partition_id)
        return not self._threads or (known is not None and known.counts(changes))

    def ask_ahead(self, question: Question) -> None:
        """It will be asked soon."""
        coming_bytes = len(self._waiting) * LOADED_BYTES
        has_room = coming_bytes + self._answers_bytes < _ANSWERS_BYTES
        if self._threads and has_room and question not in self._answers:
            self._begun(question, self._contents.changes_of(question.partition_id))

    def _begun(self, question: Question, changes: int) -> bool:
        if question in self._waiting:
            return True
        number = self._thread_for(question)
        if not self._threads[number].put(question):
            return False
        self._loads[number] += 1
        self._waiting[question] = []
        self._begun_at[question] = changes, number
        return True

    def _thread_for(self, question: Question) -> int:
        """A bucket that is slow or away stops no read of a table."""
        if question.kind is not questions.batches:
            return 0
        runs = self._contents.runs.of(question.partition_id)
        first = next(spans(runs, question.values[0]), None)
        if first is None or self._contents.tails.object_of(first.tail) is None:
            return 0
        others = range(1, len(self._threads))
        return min(others, key=self._loads.__getitem__, default=0)

    def _answered(self, question: Question, answer: Answer | StorageFailed) -> None:
        waiting = self._waiting.pop(question)
        changes, number = self._begun_at.pop(question)
        self._loads[number] -= 1
        known = _Known(answer, changes, len(waiting), monotonic(), _size_of(answer))
        self._keep(question, known)
        resolve_all(waiting)

    def _keep(self, question: Question, known: _Known) -> None:
        self._answers[question] = known
        self._answers_bytes += known.size_bytes
        while self._answers_bytes > _ANSWERS_BYTES and len(self._answers) > 1:
            self._taken(next(iter(self._answers)))

    def _taken(self, question: Question) -> _Known | None:
        known = self._answers.pop(question, None)
        if known is not None:
            self._answers_bytes -= known.size_bytes
        return known

    def _execute_soon(self, question: Question) -> Answer | StorageFailed:
        """On the loop."""
        answers: list[Answer | StorageFailed] = []

        def execute() -> None:
            answers.append(self._execute(question))

        if self._late is None or not self._late.is_alive():
            self._late = threading.Thread(target=execute, name="ottla-reads-now", daemon=True)
            try:
                self._late.start()
            except RuntimeError:  # the system has no further thread
                self._late = None
                return self._execute(question)
            self._late.join(_LONGEST_WAIT_S)
        return answers[0] if answers else StorageFailed("PostgreSQL does not respond to a read")

    def _execute(self, question: Question) -> Answer | StorageFailed:
        """In any thread."""
        try:
            return self._asked(question)
        except Exception as error:  # its callers wait
            return failure_of(error, self._server)

    def _asked(self, question: Question) -> Answer:
        runs, partition_id = self._contents.runs, question.partition_id
        ask = asking(self.rows, runs, self._contents.tails, self.bucket_of, partition_id)
        asked: list[Span] = []

        def noted(statement: str, span: Span, value: int) -> Answer:
            asked.append(span)
            return ask(statement, span, value)

        gone = TailGone()
        for _ in range(_MOST_ATTEMPTS):
            known = self._leader(partition_id)
            before = runs.of(partition_id)
            asked.clear()
            try:
                answer = question.kind(noted, before, question.values)
            except TailGone as error:
                gone = error
                if runs.of(partition_id) == before:
                    break
                continue
            if len(asked) <= 1 and (answer or not asked):
                return answer
            # What was not found in a tail may be elsewhere, by runs that are not known here.
            self._check_leader(partition_id, known)
            if not self._contents.may_have_moved(partition_id, before):
                return answer
            sleep(_PAUSE_S)
        raise StorageFailed(f"Entries are missing: {gone}")

    def _leader(self, partition_id: int) -> bytes | None:
        """As it is known here, by one of several brokers. From any thread."""
        if self._session.node_id == ALONE:
            return None
        return self._contents.state.get(LEADERS, key_of(partition_id))

    def _check_leader(self, partition_id: int, known: bytes | None) -> None:
        """Another one drops objects, or joins entries in its own tail. Raises StorageFailed."""
        if self._session.node_id == ALONE:
            return
        for (row,) in self.rows(_LEADER, {"place": key_of(partition_id)}):
            is_own = leader_of(row) == self._session.node_id
            if not is_own or known is None or not self._may_raise(epoch_of(known), epoch_of(row)):
                raise StorageFailed("The leader of the partition has changed")

    def _may_raise(self, known: int, epoch: int) -> bool:
        """This broker itself: by one, or to the first one after a promotion."""
        return epoch <= known + 1 or epoch == first_epoch(self._contents.timeline)

    def bucket_of(self) -> Bucket:
        """Another broker may have been the first one with objects. Raises StorageFailed."""
        if self._bucket is None:
            [(url,)] = self.rows(OBJECTS_URL, {})
            try:
                self._bucket = open_bucket(parse_objects(url))
            except StorageUnusable as error:
                raise StorageFailed(str(error)) from error
        return self._bucket

    def rows(self, statement: str, values: Mapping[str, int | bytes]) -> Answer:
        """In any thread. Raises psycopg.Error or StorageFailed."""
        with self._lock:
            return self._link.rows(self._connected, statement, values)

    def _connected(self) -> Rows:
        return connected(self._server, self._session, self.lacks_commits)

    def close(self) -> None:
        self._link.end()
        until = monotonic() + CLOSE_S
        for thread in (*self._threads, *self.more_threads):
            thread.close(max(0.0, until - monotonic()))
        self._link.drop()
        if self.row_reading is not None:
            self.row_reading.close()


def _size_of(answer: Answer | StorageFailed) -> int:
    rows = () if isinstance(answer, StorageFailed) else answer
    return _EACH_BYTES + sum(len(each) for row in rows for each in row if isinstance(each, bytes))


def _given(answer: Answer | StorageFailed) -> Answer:
    if isinstance(answer, StorageFailed):
        raise answer.as_value()
    return answer
