"""One task's producer: rows in, every one of them acknowledged, or one line that says why not."""

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
    from confluent_kafka.admin import TopicMetadata

#: What is wanted of a topic that is being created by its first use.
_CREATION_S = 3.0
#: For an answer, one after the other.
_PATIENCE_S = (1.0, 2.0, 4.0, 8.0, 15.0)
_POLL_S, _AGAIN_S, _FLUSH_S = 0.002, 0.1, 1.0

_QUEUE_KBYTES = 65_536
#: Batches are large enough for the broker's work to be small, and smaller than what topics with a
#: limit of their own take: librdkafka does not cut a batch that was refused. Records go where the
#: Java client would put them; delivery.timeout.ms and max.request.size are also as in Java.
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


class Sending:
    """Opens a connection with the first row: of many tasks, some have none."""

    def __init__(self, options: KafkaOptions) -> None:
        self._options = options
        #: Of keys and headers, since all was acknowledged.
        self._bytes_beside_values = 0
        self._most_bytes = _queue_bytes(options)
        self._made: Producer | None = None
        self._topics: set[str] = set()
        self._failure = ""
        #: The failure is not of the record that it was told of, and not the reason.
        self._is_of_another = False
        self._refusals = Refusals(options)

    def send(
        self, topics: set[str], rows: Iterable[tuple[Any, ...]], bytes_beside_values: int = 0
    ) -> None:
        """In this order; raises for what has failed so far, this or earlier.

        librdkafka bounds what waits by the bytes of values; those of keys and headers are told.
        """
        from confluent_kafka import KafkaException

        producer = self._producer
        for topic in topics - self._topics:
            self._look_for(topic)
        self._bytes_beside_values += bytes_beside_values
        if self._bytes_beside_values > self._most_bytes:
            self.finish()
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
                            raise self._gives_up(_too_large_for_memory(row)) from None
                        was_alone = not len(producer)
                        self._make_room()
            except KafkaException as refusal:
                raise self._gives_up(self._said(refusal.args[0], row[0], row[3], row)) from None
        producer.poll(0)
        self._check()

    def finish(self) -> None:
        """Returns when all are acknowledged."""
        if self._made is not None:
            while self._made.flush(_FLUSH_S):
                self._check()
            self._check()

    def delivered(self, error: KafkaError | None, message: Message) -> None:
        """Called for those that were not."""
        from confluent_kafka import KafkaError

        if error is None or (self._failure and not self._is_of_another):
            return
        self._is_of_another = error.code() == KafkaError._INVALID_DIFFERENT_RECORD
        self._failure = self._said(error, message.topic(), message.partition(), None, message)

    @property
    def _producer(self) -> Producer:
        from confluent_kafka import Producer

        if self._made is None:
            look(self._options.servers)
            settings = dict(SETTINGS)
            if not may_be_idempotent(self._options.client()):
                settings["enable_idempotence"] = False
            self._refusals = Refusals(self._options)
            self._made = self._options.made(Producer, error_cb=self._refusals, **settings)
        return self._made

    def _look_for(self, topic: str) -> None:
        """A broker that creates topics at their first use says for a moment that there is none."""
        from confluent_kafka import KafkaError

        soon = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE)
        deadline = time.monotonic() + _CREATION_S
        while True:
            error = self._asked_about(topic).error
            if error is None:
                self._topics.add(topic)
                return
            if error.code() not in soon or time.monotonic() > deadline:
                raise self._gives_up(self._said(error, topic))
            time.sleep(_AGAIN_S)

    def _asked_about(self, topic: str) -> TopicMetadata:
        """Nobody waits for long where they are not let in."""
        from confluent_kafka import KafkaException

        last: KafkaException | None = None
        for patience_s in _PATIENCE_S:
            try:
                found = self._producer.list_topics(topic, timeout=patience_s)
                asked: TopicMetadata = found.topics[topic]
                return asked
            except KafkaException as failure:
                last = failure
            self._producer.poll(0)  # it hands over what it complained of
            self._refusals.check()
        assert last is not None
        raise self._gives_up(self._said(last.args[0], topic))

    def _make_room(self) -> None:
        """What is acknowledged leaves the queue, and nothing stays in it for ever."""
        self._producer.poll(_POLL_S)
        self._check()

    def _check(self) -> None:
        if self._failure:
            raise self._gives_up(self._failure)

    def _gives_up(self, why: str) -> JobFailed:
        """What is still to be sent would only delay the end."""
        if self._made is not None:
            self._made.purge(blocking=False)
        return JobFailed(why)

    def _said(
        self,
        error: KafkaError,
        topic: str | None,
        partition: int | None = None,
        row: tuple[Any, ...] | None = None,
        message: Message | None = None,
    ) -> str:
        from confluent_kafka import KafkaError

        code = error.code()
        if code in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC):
            return f"there is no topic {topic!r} at {self._options.servers}"
        if code == KafkaError._UNKNOWN_PARTITION:
            return f"topic {topic!r} has no partition {partition}"
        if code == KafkaError.TOPIC_EXCEPTION:
            return f"{topic!r} cannot be the name of a topic"
        if code == KafkaError.MSG_SIZE_TOO_LARGE:
            return self._too_large(topic, row, message)
        if code in (KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN):
            why = f" ({why})" if (why := self._refusals.why()) else ""
            return f"no answer from {self._options.servers} for topic {topic!r}{why}"
        if code == KafkaError._MSG_TIMED_OUT:
            complaint = self._refusals.complaint
            why = f" ({complaint})" if complaint else ""
            return (
                f"topic {topic!r}: a record was not acknowledged within "
                f"kafka.delivery.timeout.ms{why}"
            )
        return f"topic {topic!r}: {in_words(error)}{_why(error)}"

    def _too_large(
        self, topic: str | None, row: tuple[Any, ...] | None, message: Message | None
    ) -> str:
        if row is not None:
            return f"{_in_bytes(row)} is larger than kafka.max.request.size allows"
        assert message is not None
        value, key = message.value(), message.key()
        size = sum(len(part) for part in (value, key) if part is not None)
        return (
            f"topic {topic!r} does not take a batch with a record of {size} bytes: its "
            "max.message.bytes is less than the record, or than a batch of records "
            "(a smaller kafka.batch.size makes smaller ones)"
        )


def _queue_bytes(options: KafkaOptions) -> int:
    given = str(options.client().get("queue.buffering.max.kbytes", ""))
    return 1024 * (int(given) if given.isdecimal() else _QUEUE_KBYTES)


def _in_bytes(row: tuple[Any, ...]) -> str:
    size = sum(len(part) for part in row[1:3] if part is not None)
    return f"a record of {size} bytes for topic {row[0]!r}"


def _too_large_for_memory(row: tuple[Any, ...]) -> str:
    return f"{_in_bytes(row)} is larger than kafka.buffer.memory, with nothing else in it"


def _why(error: KafkaError) -> str:
    """Of what a broker refuses after a look at the records: its own words are not handed on."""
    from confluent_kafka import KafkaError

    time = "a time that message.timestamp.before.max.ms or message.timestamp.after.max.ms excludes"
    if error.code() == KafkaError.INVALID_TIMESTAMP:
        return f": the topic takes no record with {time}"
    if error.code() == KafkaError.INVALID_RECORD:
        return f": that is a record with {time}, or one without a key in a compacted topic"
    return ""
