"""Errors of librdkafka and brokers as text."""

from __future__ import annotations

from typing import Any


def in_words(error: Any) -> str:
    """Of a KafkaError; confluent-kafka is not imported here."""
    return f"{error.str()} ({error.name().lstrip('_')})"
