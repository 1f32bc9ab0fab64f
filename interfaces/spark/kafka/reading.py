"""A task reads a range of a partition as Arrow batches of bounded size.

A range ends with its last offset, with a later one, or with the end of the log: compaction may have
removed its last records, or they are transaction markers. Otherwise missing records are lost data:
a failure, or skipped with failOnDataLoss=false.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from interfaces.spark.kafka.consumers import Reader, give_back, take
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.columns import arrow_columns
from interfaces.spark.query.failures import JobFailed, lost
from interfaces.spark.query.ranges import Range
from interfaces.terminal.client_errors import in_words

if TYPE_CHECKING:
    import pyarrow
    from confluent_kafka import KafkaError

#: An Arrow batch has at most twice as many rows, and about as many bytes. Larger ones leave the
#: processor's cache before they are sent; smaller ones cost Spark more.
MOST_ROWS = 10_000
MOST_BYTES = 2 * 2**20
_FIRST_ROWS = 16
_WAIT_S = 0.5
#: While no record arrives, the topic and the end of its log are looked up so often.
_LOOK_AGAIN_S = 1.0
_TIMES_GONE = 2
_TRIES = 3
_ANSWER_S = 5.0
_LOOKUP_S = 30.0


def read_range(options: KafkaOptions, group: str, part: Range) -> Iterator[pyarrow.RecordBatch]:
    """The consumer is cached for the next range of this worker process."""
    reader = take(options, group)
    try:
        yield from _Reading(options, reader, part).batches()
    except BaseException:
        reader.consumer.close()
        raise
    give_back(options, group, reader)


class _Reading:
    def __init__(self, options: KafkaOptions, reader: Reader, part: Range) -> None:
        self.reader, self.consumer, self.part = reader, reader.consumer, part
        self.schema = arrow_columns(options.flag("includeHeaders", False))
        self.patience_s = options.patience_s
        self.fail_on_loss = options.flag("failOnDataLoss", True)
        self.servers = options.servers
        self.position = part.start
        #: How many messages to consume at once, by the size of the last ones.
        self.most = _FIRST_ROWS
        self.is_over = False
        #: Where the log seems to end, before the range does.
        self.log_end: int | None = None
        self.tries_left = _TRIES

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        from interfaces.spark.kafka.batches import Rows

        if self.part.size <= 0:
            return
        self._assign(self.position)
        rows = Rows(self.schema)
        while not self.is_over:
            rows.add(self._some())
            self.most = min(MOST_ROWS, MOST_BYTES * len(rows) // max(1, rows.bytes) + 1)
            if len(rows) >= MOST_ROWS or rows.bytes >= MOST_BYTES:
                yield rows.batch()
        if rows:
            yield rows.batch()

    def _assign(self, offset: int) -> None:
        from confluent_kafka import TopicPartition

        self.consumer.assign([TopicPartition(*self.part.place, offset)])

    def _some(self) -> list[Any]:
        """The next messages of the range; waits for the first one."""
        from confluent_kafka import Message

        messages: list[Any] = self.consumer.consume(self.most, 0) or self._wait()
        if any(map(Message.error, messages)):
            messages = self._without_errors(messages)
        elif messages:
            self.log_end = None
        if messages:
            last = messages[-1].offset()
            if last >= self.part.end - 1:
                self.is_over = True
                if last >= self.part.end:
                    cut = bisect_left(messages, self.part.end, key=lambda one: one.offset())
                    del messages[cut:]
            self.position = last + 1
        return messages

    def _wait(self) -> list[Any]:
        """Waits for a message. Brokers may restart meanwhile: librdkafka reconnects."""
        deadline = time.monotonic() + self.patience_s
        look_again = time.monotonic() + _LOOK_AGAIN_S
        gone = 0
        while (now := time.monotonic()) < deadline:
            found = self.consumer.consume(1, min(_WAIT_S, deadline - now))
            if found:
                return found
            if now >= look_again:
                look_again = now + _LOOK_AGAIN_S
                if self.log_end is not None and self._is_the_end(self.log_end, deadline - now):
                    return self._ended(self.log_end)
                gone = gone + 1 if self._is_gone() else 0
                if gone == _TIMES_GONE:
                    return self._gone()
        why = f": {complaint}" if (complaint := self.reader.refusals.complaint) else ""
        raise JobFailed(
            f"{self.part.place}: no record from {self.servers} for {self.patience_s:g} s "
            f"at offset {self.position}{why}"
        )

    def _is_gone(self) -> bool:
        """librdkafka does not report a deleted topic. A consumer's Metadata creates none."""
        from confluent_kafka import KafkaError, KafkaException

        topic = self.part.place.topic
        try:
            found = self.consumer.list_topics(topic, timeout=_WAIT_S).topics[topic]
        except KafkaException:
            return False  # no broker responds; that may pass
        if found.error is not None:
            return bool(found.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART)
        return self.part.place.partition not in found.partitions

    def _is_the_end(self, end: int, left_s: float) -> bool:
        """ListOffsets confirms it: a new leader responds to Fetch with too small a high watermark,
        but to ListOffsets with OFFSET_NOT_AVAILABLE."""
        from confluent_kafka import KafkaException, TopicPartition

        place = TopicPartition(*self.part.place)
        try:
            _, high = self.consumer.get_watermark_offsets(place, timeout=min(_ANSWER_S, left_s))
        except KafkaException:
            return False
        return bool(high <= end)

    def _gone(self) -> list[Any]:
        self.is_over = True
        self._lost(f"{self.part.place} is not there any more")
        return []

    def _ended(self, end: int) -> list[Any]:
        self.is_over = True
        self._lost(f"{self.part.place} ends at offset {end}, before {self.part.end}")
        return []

    def _without_errors(self, messages: list[Any]) -> list[Any]:
        good = []
        for message in messages:
            error = message.error()
            if error is None:
                good.append(message)
                self.position, self.log_end = message.offset() + 1, None
            elif not self.is_over:
                self._explain(message, error)
        return good

    def _explain(self, message: Any, error: KafkaError) -> None:
        from confluent_kafka import KafkaError

        code = error.code()
        if code == KafkaError._PARTITION_EOF:
            self._at_the_end(message.offset())
        elif code in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            self._out_of_range()
        elif code in (
            KafkaError.UNKNOWN_TOPIC_OR_PART,
            KafkaError._UNKNOWN_PARTITION,
            KafkaError._UNKNOWN_TOPIC,
        ):
            self._gone()
        elif error.fatal() or not (error.retriable() or _passes(error)):
            raise JobFailed(f"{self.part.place}: {in_words(error)}")

    def _at_the_end(self, end: int) -> None:
        """End of partition. Before the end of the range it counts only if no record follows and
        the leader confirms it, see `_is_the_end`."""
        if end >= self.part.end:
            self.is_over = True
        else:
            self.log_end = end

    def _out_of_range(self) -> None:
        from confluent_kafka import KafkaException, TopicPartition

        place = TopicPartition(*self.part.place)
        try:
            low, high = self.consumer.get_watermark_offsets(place, timeout=_LOOKUP_S)
        except KafkaException as failure:
            raise JobFailed(f"{self.part.place}: {failure.args[0].str()}") from None
        if low <= self.position < high and self.tries_left:
            self.tries_left -= 1  # a lagging replica responded
            self._assign(self.position)
            return
        self._lost(
            f"{self.part.place}: offset {self.position} is not there any more; "
            f"the log has {low} to {high}"
        )
        if not self.position < low < self.part.end:
            self.is_over = True  # the log was truncated, or the whole range was deleted
        else:
            self.position = low
            self._assign(low)

    def _lost(self, what: str) -> None:
        if self.fail_on_loss:
            raise lost(what)


def _passes(error: KafkaError) -> bool:
    """Errors that librdkafka reports and retries by itself."""
    from confluent_kafka import KafkaError

    return error.code() in (
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TRANSPORT,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
        KafkaError._MAX_POLL_EXCEEDED,
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.LEADER_NOT_AVAILABLE,
    )
