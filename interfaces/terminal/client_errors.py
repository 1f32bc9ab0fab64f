"""Errors of librdkafka and brokers as text."""

from __future__ import annotations

from typing import Any

#: Kafka's names of errors that librdkafka names differently.
_NAMES = {
    "INVALID_MSG": "CORRUPT_MESSAGE",
    "UNKNOWN_TOPIC_OR_PART": "UNKNOWN_TOPIC_OR_PARTITION",
    "INVALID_MSG_SIZE": "INVALID_FETCH_SIZE",
    "NOT_LEADER_FOR_PARTITION": "NOT_LEADER_OR_FOLLOWER",
    "MSG_SIZE_TOO_LARGE": "MESSAGE_TOO_LARGE",
    "STALE_CTRL_EPOCH": "STALE_CONTROLLER_EPOCH",
    "TOPIC_EXCEPTION": "INVALID_TOPIC_EXCEPTION",
}


def in_words(error: Any) -> str:
    """Of a KafkaError; confluent-kafka is not imported here."""
    name = error.name().lstrip("_")
    # "ListConsumerGroupOffsetsResponse response failure: Broker: ..."
    text = error.str().rpartition(" response failure: ")[2].removeprefix("Broker: ")
    return f"{text} ({_NAMES.get(name, name)})"
