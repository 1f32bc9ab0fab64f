"""With `exactlyOnce=true` each task of a micro-batch writes in a transaction.

The transactional id has the query and the number of the task, so another attempt aborts what the
one before left open. The transaction also commits the number of the micro-batch, as the offset of a
group with the same name: an attempt that finds its own micro-batch there sends nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.sink_sending import Sending
from interfaces.spark.query.failures import JobFailed
from interfaces.terminal.client_errors import in_words

if TYPE_CHECKING:
    from confluent_kafka import TopicPartition

#: The default of the broker's transaction.max.timeout.ms. A transaction lasts as long as its task.
_TIMEOUT_MS = 900_000
_REQUEST_S, _PATIENCE_S, _ABORT_S = 15.0, 60.0, 5.0


class TransactionalSending(Sending):
    """A task without rows has no transaction."""

    def __init__(self, options: KafkaOptions, query: str, batch: int, task: int) -> None:
        super().__init__(options)
        self._id = f"ottla-spark-{query}-{task}"
        self._settings |= {"transactional_id": self._id, "transaction_timeout_ms": _TIMEOUT_MS}
        self._batch = batch
        self._rows = 0
        self._is_open = False
        #: Rows of this micro-batch that an earlier attempt has committed.
        self._committed_rows: int | None = None
        self._group_metadata: Any = None

    def send(
        self, topics: set[str], rows: Iterable[tuple[Any, ...]], bytes_beside_values: int = 0
    ) -> None:
        sent = list(rows)
        if not self._rows:
            self._begin(topics)
        self._rows += len(sent)
        if self._committed_rows is None:
            super().send(topics, sent, bytes_beside_values)

    def finish(self) -> None:
        from confluent_kafka import TopicPartition

        super().finish()
        if self._committed_rows is not None and self._committed_rows != self._rows:
            raise JobFailed(
                f"{self._id}: Spark repeats micro-batch {self._batch} with {self._rows} rows in "
                f"this task, and {self._committed_rows} are committed; run it with the same query "
                "and the same number of tasks"
            )
        if self._is_open:
            # In each topic, as the next attempt looks in those of its first rows.
            marks = [
                TopicPartition(topic, 0, self._batch, str(self._rows)) for topic in self._topics
            ]
            self._call(self._producer.send_offsets_to_transaction, marks, self._group_metadata)
            self._call(self._producer.commit_transaction)
            self._is_open = False

    def abort(self) -> None:
        """Consumers that read committed records need not wait for the timeout."""
        from confluent_kafka import KafkaException

        super().abort()
        if self._is_open:
            with suppress(KafkaException):
                self._producer.abort_transaction(_ABORT_S)

    def _begin(self, topics: set[str]) -> None:
        for topic in topics:
            self._require_topic(topic)
        # First, as no earlier attempt can commit after this.
        self._call(self._producer.init_transactions)
        last = self._last_mark(topics)
        if last.offset > self._batch:
            raise JobFailed(
                f"{self._id}: micro-batch {last.offset} is committed, and Spark repeats "
                f"{self._batch}: the checkpoint is older than the topic"
            )
        if last.offset == self._batch:
            self._committed_rows = int(last.metadata or 0)
        else:
            self._producer.begin_transaction()
            self._is_open = True

    def _last_mark(self, topics: set[str]) -> TopicPartition:
        from confluent_kafka import Consumer, TopicPartition

        group = {"group.id": self._id, "isolation.level": "read_committed"}
        consumer = self._options.made(lambda settings: Consumer(settings | group))
        try:
            self._group_metadata = consumer.consumer_group_metadata()
            places = [TopicPartition(topic, 0) for topic in topics]
            marks: list[TopicPartition] = self._call(consumer.committed, places)
            return max(marks, key=lambda mark: mark.offset)
        finally:
            consumer.close()

    def _call(self, request: Callable[..., Any], *arguments: Any) -> Any:
        from confluent_kafka import KafkaException

        began = time.monotonic()
        while True:
            try:
                return request(*arguments, _REQUEST_S)
            except KafkaException as failure:
                error = failure.args[0]
                if not error.retriable() or time.monotonic() - began > _PATIENCE_S:
                    raise JobFailed(f"transaction {self._id}: {in_words(error)}") from None
