"""A range of a partition, read by a task: Arrow batches of bounded size, and no row beside it.

A range ends with its last offset, or where the log goes on after it, or where the log ends: the
last offsets of a range may be gone by compaction, or be markers of transactions, which nobody is
shown. What is missing otherwise is lost data: a failure, or passed over with failOnDataLoss=false.
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

#: An Arrow batch has no more rows than twice this, and hardly more bytes: larger ones leave the
#: processor's cache before they are sent, smaller ones cost Spark more.
MOST_ROWS = 10_000
MOST_BYTES = 2 * 2**20
_FIRST_ROWS = 16
_WAIT_S = 0.5
#: Where nothing comes, whether the topic is still there, or has ended, is asked this often.
_LOOK_AGAIN_S = 1.0
_TIMES_GONE = 2
_TRIES = 3
_ANSWER_S = 5.0
_LOOKUP_S = 30.0


def read_range(options: KafkaOptions, group: str, wanted: Range) -> Iterator[pyarrow.RecordBatch]:
    """Each batch is one more of the range's; the consumer is kept for the next range."""
    reader = take(options, group)
    try:
        yield from _Reading(options, reader, wanted).batches()
    except BaseException:
        reader.consumer.close()
        raise
    give_back(options, group, reader)


class _Reading:
    def __init__(self, options: KafkaOptions, reader: Reader, wanted: Range) -> None:
        self.reader, self.consumer, self.wanted = reader, reader.consumer, wanted
        self.schema = arrow_columns(options.flag("includeHeaders", False))
        self.patience_s = options.patience_s
        self.fail_on_loss = options.flag("failOnDataLoss", True)
        self.servers = options.servers
        self.position = wanted.start
        #: Messages that are taken at once, by the size of the last ones.
        self.most = _FIRST_ROWS
        self.is_over = False
        #: Where the log seems to end before the range does.
        self.log_end: int | None = None
        self.tries_left = _TRIES

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        from interfaces.spark.kafka.batches import Rows

        if self.wanted.size <= 0:
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

        self.consumer.assign([TopicPartition(*self.wanted.place, offset)])

    def _some(self) -> list[Any]:
        """What is there, or what comes first; moves on, and knows when it is over."""
        from confluent_kafka import Message

        messages: list[Any] = self.consumer.consume(self.most, 0) or self._wait()
        if any(map(Message.error, messages)):
            messages = self._without_errors(messages)
        elif messages:
            self.log_end = None
        if messages:
            last = messages[-1].offset()
            if last >= self.wanted.end - 1:
                self.is_over = True
                if last >= self.wanted.end:
                    cut = bisect_left(messages, self.wanted.end, key=lambda one: one.offset())
                    del messages[cut:]
            self.position = last + 1
        return messages

    def _wait(self) -> list[Any]:
        """For the first message. Brokers may come and go meanwhile: librdkafka connects again."""
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
            f"{self.wanted.place}: nothing came from {self.servers} for {self.patience_s:g} s "
            f"at offset {self.position}{why}"
        )

    def _is_gone(self) -> bool:
        """Of a topic that is deleted librdkafka says nothing. A consumer that asks creates none."""
        from confluent_kafka import KafkaError, KafkaException

        topic = self.wanted.place.topic
        try:
            found = self.consumer.list_topics(topic, timeout=_WAIT_S).topics[topic]
        except KafkaException:
            return False  # the broker is not there: that is another matter
        if found.error is not None:
            return bool(found.error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART)
        return self.wanted.place.partition not in found.partitions

    def _is_the_end(self, end: int, left_s: float) -> bool:
        """A new leader answers fetches with an end that is too early; asked for its end, it says
        that it does not know yet. What cannot be had is asked for again later."""
        from confluent_kafka import KafkaException, TopicPartition

        place = TopicPartition(*self.wanted.place)
        try:
            _, high = self.consumer.get_watermark_offsets(place, timeout=min(_ANSWER_S, left_s))
        except KafkaException:
            return False
        return bool(high <= end)

    def _gone(self) -> list[Any]:
        self.is_over = True
        self._lost(f"{self.wanted.place} is not there any more")
        return []

    def _ended(self, end: int) -> list[Any]:
        self.is_over = True
        self._lost(f"{self.wanted.place} ends at offset {end}, before {self.wanted.end}")
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
            raise JobFailed(f"{self.wanted.place}: {in_words(error)}")

    def _at_the_end(self, end: int) -> None:
        """Of the log, as it is now; nothing that is shown lies between the position and it.

        Before the end of the range it is believed only when nothing follows, and the leader says
        so: a new one may learn only now what its log has.
        """
        if end >= self.wanted.end:
            self.is_over = True
        else:
            self.log_end = end

    def _out_of_range(self) -> None:
        from confluent_kafka import KafkaException, TopicPartition

        place = TopicPartition(*self.wanted.place)
        try:
            low, high = self.consumer.get_watermark_offsets(place, timeout=_LOOKUP_S)
        except KafkaException as failure:
            raise JobFailed(f"{self.wanted.place}: {failure.args[0].str()}") from None
        if low <= self.position < high and self.tries_left:
            self.tries_left -= 1  # another replica answered, or this one has caught up
            self._assign(self.position)
            return
        self._lost(
            f"{self.wanted.place}: offset {self.position} is not there any more; "
            f"the log has {low} to {high}"
        )
        if not self.position < low < self.wanted.end:
            self.is_over = True  # the log was cut at its end, or the range is gone altogether
        else:
            self.position = low
            self._assign(low)

    def _lost(self, what: str) -> None:
        if self.fail_on_loss:
            raise lost(what)


def _passes(error: KafkaError) -> bool:
    """What librdkafka tells of, and tries again by itself."""
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
