"""Reading: questions about batches that are not in memory, asked over a connection of their own.

A question is asked in a thread, and its answer waits until the read is repeated. An answer counts
only while nothing of its log was removed or replaced since.
"""

from __future__ import annotations

import threading
from time import monotonic
from typing import NamedTuple

import psycopg

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from domain.errors import StorageFailed
from infrastructure.storage.engine import ToLoop
from infrastructure.storage.loading_thread import LoadingThread, resolve_all
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.link import CLOSE_S, Link
from infrastructure.storage.postgresql.questions import Answer, Kind
from infrastructure.storage.postgresql.runs import Span
from infrastructure.storage.postgresql.server import Rows, Server, is_lost

#: Of callers that did not come back.
_MOST_ANSWERS = 20
#: A failure is for the callers that waited for it: the server may be back soon.
_FAILURE_S = 1.0
#: A read that waits stops the loop, with all clients.
_LONGEST_WAIT_S = 2.0


class Question(NamedTuple):
    kind: Kind
    partition_id: int
    values: tuple[int, ...]


class _Known(NamedTuple):
    answer: Answer | StorageFailed
    #: Of the log, before it was asked.
    changes: int
    #: How many callers a failure is for.
    waited: int
    answered_at: float

    def counts(self, changes: int) -> bool:
        if isinstance(self.answer, StorageFailed):
            return monotonic() - self.answered_at < _FAILURE_S
        return self.changes == changes


class Reading:
    def __init__(
        self, server: Server, connection: Rows, contents: Contents, to_loop: ToLoop | None
    ) -> None:
        self._server = server
        self._link = Link(connection)
        self._contents = contents
        self._lock = threading.Lock()
        self._thread: LoadingThread[Question, Answer | StorageFailed] | None = (
            None if to_loop is None else LoadingThread(self._execute, self._answered, to_loop)
        )
        self._waiting: dict[Question, list[Pending[None]]] = {}
        #: The oldest first.
        self._answers: dict[Question, _Known] = {}
        #: The number of changes of the log at that time.
        self._asked: dict[Question, int] = {}
        #: Of a read that took too long.
        self._late: threading.Thread | None = None

    def ask(self, question: Question, waits: bool = False) -> Answer:
        """Raises NotInMemory or StorageFailed."""
        changes = self._contents.changes_of(question.partition_id)
        known = self._answers.pop(question, None)
        if known is not None and known.counts(changes):
            if isinstance(known.answer, StorageFailed) and known.waited > 1:
                self._answers[question] = known._replace(waited=known.waited - 1)
            return _given(known.answer)
        if self._thread is None:
            return _given(self._execute(question))
        if waits or not self._begun(question, changes):
            return _given(self._execute_soon(question))
        loading: Pending[None] = Pending()
        self._waiting[question].append(loading)
        raise NotInMemory(loading)

    def _begun(self, question: Question, changes: int) -> bool:
        if question in self._waiting:
            return True
        assert self._thread is not None
        if not self._thread.put(question):
            return False
        self._waiting[question] = []
        self._asked[question] = changes
        return True

    def _answered(self, question: Question, answer: Answer | StorageFailed) -> None:
        waiting = self._waiting.pop(question)
        if len(self._answers) >= _MOST_ANSWERS:
            del self._answers[next(iter(self._answers))]
        changes = self._asked.pop(question)
        self._answers[question] = _Known(answer, changes, len(waiting), monotonic())
        resolve_all(waiting)

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
        with self._lock:
            self._link.busy = True
            try:
                return self._patiently(question)
            finally:
                self._link.busy = False

    def _patiently(self, question: Question) -> Answer | StorageFailed:
        failure = StorageFailed("The store is closed")
        for _ in range(4):  # it was lost, connects, asks a tail that is gone, asks
            if self._link.ended.is_set():
                self._link.drop()
                break
            try:
                if self._link.connection is None:
                    self._link.connection = self._server.connect(again=True)
                    continue  # it may have been closed meanwhile
                return self._asked_of(self._link.connection, question)
            except psycopg.errors.UndefinedTable as error:
                # The run was trimmed or moved meanwhile, and its tail dropped: the new runs say it.
                failure = self._server.failed("could not be read", error)
            except psycopg.Error as error:
                failure = self._server.failed("could not be read", error)
                connection = self._link.connection
                if connection is None or not is_lost(error, connection):
                    break
                self._link.drop()
            except BaseException:  # Ctrl-C
                self._link.drop()
                raise
        return failure

    def _asked_of(self, connection: Rows, question: Question) -> Answer:
        def ask(statement: str, span: Span, value: int) -> Answer:
            values = {**span._asdict(), "partition_id": question.partition_id, "value": value}
            text = statement.format(tail=f"ottla_tail_{span.tail}").encode()
            # There are as many texts as tails.
            return connection.execute(text, values, prepare=False, binary=True).fetchall()

        return question.kind(ask, self._contents.runs.of(question.partition_id), question.values)

    def close(self) -> None:
        self._link.end()
        if self._thread is not None:
            self._thread.close(CLOSE_S)
        self._link.drop()


def _given(answer: Answer | StorageFailed) -> Answer:
    if isinstance(answer, StorageFailed):
        raise answer.as_value()
    return answer
