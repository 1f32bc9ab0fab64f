"""Settings of perf's clients, looked at before Spark starts: a typo costs a second, not a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from interfaces.spark.failures import WrongOption
from interfaces.spark.kafka.options import in_words

_IDEMPOTENCE, _ACKS = "enable.idempotence", ("acks", "request.required.acks")
_WITHOUT_IDEMPOTENCE = ("0", "1")
_LARGEST, _LARGEST_BYTES = "message.max.bytes", 1_000_000


def producer_settings(ours: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What was given wins: a producer that waits for one replica or none is not idempotent."""
    wins = dict(given)
    if any(str(given.get(name)) in _WITHOUT_IDEMPOTENCE for name in _ACKS):
        wins = {_IDEMPOTENCE: False, **wins}
    return {**ours, **wins}


def check_clients(
    producer: Mapping[str, Any], consumer: Mapping[str, Any], record_bytes: int
) -> None:
    from confluent_kafka import Consumer, KafkaException, Producer

    for which, make, settings in (
        ("producer", Producer, producer),
        ("consumer", Consumer, {"group.id": "ottla-spark", **consumer}),
    ):
        try:
            client: Any = make({**settings, "bootstrap.servers": "", "log_level": 0})
        except (KafkaException, ValueError, TypeError) as refusal:
            raise WrongOption(f"{which}: {in_words(refusal)}") from None
        if which == "consumer":
            client.close()
    largest = int(producer.get(_LARGEST, _LARGEST_BYTES))
    if record_bytes > largest:
        raise WrongOption(
            f"records of {record_bytes} bytes are larger than the client's {_LARGEST}, {largest}; "
            f"-X {_LARGEST}=... allows more, where the broker does too"
        )
