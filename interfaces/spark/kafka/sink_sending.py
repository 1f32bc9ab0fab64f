"""The producer of one task: every record is acknowledged, or the task fails with one line."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from interfaces.spark.kafka.client_settings import may_be_idempotent
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.reachable import look
from interfaces.spark.kafka.refusals import Refusals
from interfaces.spark.query.failures import JobFailed
from interfaces.terminal.client_errors import in_words

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, Message, Producer

#: For the creation of a topic on first use, and for a first response from the broker.
_CREATION_S, _METADATA_S = 3.0, 15.0
_POLL_S, _AGAIN_S, _FLUSH_S = 0.002, 0.1, 1.0

_QUEUE_KBYTES = 65_536
#: Large batches are cheap for the broker, but librdkafka does not split a batch that a topic with a
#: small max.message.bytes refuses. The partitioner is that of the Java client, as are
#: delivery.timeout.ms and max.request.size.
SETTINGS = {
    "enable_idempotence": True,
    "linger_ms": 20,
    "batch_size": 262_144,
    "message_max_bytes": 1_048_576,
    "delivery_timeout_ms": 120_000,
    "partitioner": "murmur2_random",
    "queue_buffering_max_kbytes": _QUEUE_KBYTES,
    "queue_buffering_max_messages": 200_000,
    "delivery_report_only_error": True,
}
#: By the names of errors; librdkafka does not pass the broker's own message on.
_HINTS = {
    "INVALID_RECORD": "the timestamp is out of range, or a compacted topic needs a key",
    "INVALID_TIMESTAMP": "see message.timestamp.before.max.ms and message.timestamp.after.max.ms",
    "MSG_SIZE_TOO_LARGE": (
        "see max.message.bytes of the topic, option kafka.max.request.size and, if a batch is too "
        "large, option kafka.batch.size"
    ),
}


class Sending:
    """Connects with the first row, as many tasks of Spark have none."""

    def __init__(self, options: KafkaOptions) -> None:
        self._options = options
        #: Bytes of keys and headers since the last flush.
        self._bytes_beside_values = 0
        self._most_bytes = _queue_bytes(options)
        self._settings: dict[str, Any] = dict(SETTINGS)
        if not may_be_idempotent(options.client()):
            self._settings["enable_idempotence"] = False
        self._made: Producer | None = None
        self._topics: set[str] = set()
        self._failure = ""
        #: Another record of the same batch was refused; its report has the reason.
        self._is_of_another = False
        self._refusals = Refusals()

    def send(
        self, topics: set[str], rows: Iterable[tuple[Any, ...]], bytes_beside_values: int = 0
    ) -> None:
        """Sends in this order; raises for a record that failed, now or earlier.

        librdkafka's queue limit counts values only; keys and headers are limited here.
        """
        from confluent_kafka import KafkaException

        producer = self._producer
        for topic in topics - self._topics:
            self._require_topic(topic)
        self._bytes_beside_values += bytes_beside_values
        if self._bytes_beside_values > self._most_bytes:
            self._flush()
            self._bytes_beside_values = bytes_beside_values
        produce = producer.produce
        for row in rows:
            try:
                was_alone = False
                while True:
                    try:
                        produce(*row)
                        break
                    except BufferError:
                        if was_alone:
                            size = _size(row[1], row[2])
                            raise JobFailed(
                                f"topic {row[0]!r}: a record of {size} bytes is larger than "
                                "option kafka.buffer.memory"
                            ) from None
                        was_alone = not len(producer)
                        producer.poll(_POLL_S)
                        self._check()
            except KafkaException as refusal:
                size = _size(row[1], row[2])
                raise JobFailed(self._reason(refusal.args[0], row[0], row[3], size)) from None
        producer.poll(0)
        self._check()

    def finish(self) -> None:
        """Returns when all records are acknowledged."""
        self._flush()

    def abort(self) -> None:
        """Drops queued records, which would only delay the end of the task."""
        if self._made is not None:
            self._made.purge(blocking=False)

    def _flush(self) -> None:
        if self._made is not None:
            while self._made.flush(_FLUSH_S):
                self._check()
            self._check()

    def delivered(self, error: KafkaError | None, message: Message) -> None:
        """The delivery report of a record that failed."""
        from confluent_kafka import KafkaError

        if error is None or (self._failure and not self._is_of_another):
            return
        self._is_of_another = error.code() == KafkaError._INVALID_DIFFERENT_RECORD
        size = _size(message.value(), message.key())
        self._failure = self._reason(error, message.topic(), message.partition(), size)

    @property
    def _producer(self) -> Producer:
        from confluent_kafka import Producer

        if self._made is None:
            look(self._options.servers)
            self._refusals = Refusals()
            self._made = self._options.made(Producer, error_cb=self._refusals, **self._settings)
        return self._made

    def _require_topic(self, topic: str) -> None:
        """A broker that creates topics on first use reports them as unknown for a moment."""
        from confluent_kafka import KafkaError, KafkaException

        creating = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE)
        began = time.monotonic()
        while True:
            waited_s = time.monotonic() - began
            try:
                found = self._producer.list_topics(topic, timeout=max(1.0, waited_s))
                error = found.topics[topic].error
                if error is None:
                    self._topics.add(topic)
                    return
                is_retried = error.code() in creating and waited_s < _CREATION_S
            except KafkaException as failure:
                error, is_retried = failure.args[0], waited_s < _METADATA_S
                self._producer.poll(0)  # calls error_cb
                self._refusals.check()
            if not is_retried:
                raise JobFailed(self._reason(error, topic))
            time.sleep(_AGAIN_S)

    def _check(self) -> None:
        if self._failure:
            raise JobFailed(self._failure)

    def _reason(
        self, error: KafkaError, topic: str | None, partition: int | None = None, size: int = 0
    ) -> str:
        from confluent_kafka import KafkaError

        code = error.code()
        if code in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
            return f"there is no topic {topic!r} at {self._options.servers}"
        if code == KafkaError._UNKNOWN_PARTITION:
            return f"topic {topic!r} has no partition {partition}"
        record = f": a record of {size} bytes" if code == KafkaError.MSG_SIZE_TOO_LARGE else ""
        hint = _HINTS.get(error.name()) or self._refusals.why()
        return f"topic {topic!r}{record}: {in_words(error)}{': ' if hint else ''}{hint}"


def _queue_bytes(options: KafkaOptions) -> int:
    given = str(options.client().get("queue.buffering.max.kbytes", ""))
    return 1024 * (int(given) if given.isdecimal() else _QUEUE_KBYTES)


def _size(*parts: bytes | None) -> int:
    return sum(map(len, filter(None, parts)))
