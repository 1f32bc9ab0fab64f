"""Each worker process caches one connected consumer for its next task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.refusals import Refusals

if TYPE_CHECKING:
    from confluent_kafka import Consumer

#: Defaults of a consumer, measured for docs/spark.md.
_TUNED: dict[str, Any] = {
    "auto_offset_reset": "error",
    "enable_auto_commit": False,
    "enable_auto_offset_store": False,
    "enable_partition_eof": True,
    "check_crcs": True,
    "isolation_level": "read_uncommitted",  # Java's default; librdkafka has another
    "queued_max_messages_kbytes": 32 * 2**10,
    "queued_min_messages": 10_000_000,  # the line above bounds the queue
    # With a full queue librdkafka fetches again only after a second by default.
    "fetch_queue_backoff_ms": 5,
    "fetch_wait_max_ms": 50,
    "fetch_error_backoff_ms": 50,
    "reconnect_backoff_ms": 50,
    "reconnect_backoff_max_ms": 1000,
    # Report an unknown topic after 5 s; the default is 30 s.
    "topic_metadata_propagation_max_ms": 5000,
}


class Reader:
    """A consumer and its connection errors."""

    def __init__(self, options: KafkaOptions, group: str) -> None:
        from confluent_kafka import Consumer

        self.refusals = Refusals()
        self.consumer: Consumer = options.made(
            Consumer, group_id=group, error_cb=self.refusals, **_TUNED
        )


_cached: dict[str, Reader] = {}


def take(options: KafkaOptions, group: str) -> Reader:
    """The caller gives it back, or closes it after an error."""
    reader = _cached.pop(_key(options, group), None)
    if reader is None:
        return Reader(options, group)
    reader.refusals.complaint = ""
    return reader


def give_back(options: KafkaOptions, group: str, reader: Reader) -> None:
    """Caches it, and closes the cached consumer of another query."""
    reader.consumer.unassign()
    while _cached:
        _, other = _cached.popitem()
        other.consumer.close()
    _cached[_key(options, group)] = reader


def _key(options: KafkaOptions, group: str) -> str:
    return repr((sorted(options.client().items()), group))
