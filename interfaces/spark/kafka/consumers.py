"""Consumers of a worker process: one is kept for its next task, connected as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.refusals import Refusals

if TYPE_CHECKING:
    from confluent_kafka import Consumer

#: What a range is read with, unless the options say otherwise; measured in docs/spark.md.
_TUNED: dict[str, Any] = {
    "auto_offset_reset": "error",
    "enable_auto_commit": False,
    "enable_auto_offset_store": False,
    "enable_partition_eof": True,
    "check_crcs": True,
    "isolation_level": "read_uncommitted",  # Java's default; librdkafka has another
    "queued_max_messages_kbytes": 32 * 2**10,
    "queued_min_messages": 10_000_000,  # the bytes above are what bounds it
    # With a full queue librdkafka would look again only after a second.
    "fetch_queue_backoff_ms": 5,
    "fetch_wait_max_ms": 50,
    "fetch_error_backoff_ms": 50,
    "reconnect_backoff_ms": 50,
    "reconnect_backoff_max_ms": 1000,
    # A topic that is not there is told of after this, not after half a minute.
    "topic_metadata_propagation_max_ms": 5000,
}


class Reader:
    """A consumer, and what it complains of."""

    def __init__(self, options: KafkaOptions, group: str) -> None:
        from confluent_kafka import Consumer

        self.refusals = Refusals(options)
        self.consumer: Consumer = options.made(
            Consumer, group_id=group, error_cb=self.refusals, **_TUNED
        )


_kept: dict[str, Reader] = {}


def take(options: KafkaOptions, group: str) -> Reader:
    """To be given back, or closed when something was wrong with it."""
    reader = _kept.pop(_key(options, group), None)
    if reader is None:
        return Reader(options, group)
    reader.refusals.complaint = ""
    return reader


def give_back(options: KafkaOptions, group: str, reader: Reader) -> None:
    """One is kept; that of another query is closed."""
    reader.consumer.unassign()
    while _kept:
        _, other = _kept.popitem()
        other.consumer.close()
    _kept[_key(options, group)] = reader


def _key(options: KafkaOptions, group: str) -> str:
    return repr((sorted(options.client().items()), group))
