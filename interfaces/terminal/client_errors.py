"""What librdkafka or the broker says, in words."""

from __future__ import annotations

from typing import Any


def in_words(error: Any) -> str:
    """Of a KafkaError of confluent-kafka, which nothing here imports."""
    return f"{error.str()} ({error.name().lstrip('_')})"
