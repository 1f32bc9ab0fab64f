"""Client settings by their names in the Java client, for a query's librdkafka."""

from __future__ import annotations

from collections.abc import Mapping

from interfaces.spark.query.failures import WrongOption
from interfaces.terminal import java_options

_MOST_IN_FLIGHT = 5
_CHECKPOINT = "the offsets of a query are in its checkpoint"
_BYTES = "keys and values are bytes; cast the columns in the query"
_REFUSED = {
    "auto.offset.reset": "set the options startingOffsets and failOnDataLoss",
    "enable.auto.commit": _CHECKPOINT,
    "enable.auto.offset.store": _CHECKPOINT,
    "key.deserializer": _BYTES,
    "key.serializer": _BYTES,
    "value.deserializer": _BYTES,
    "value.serializer": _BYTES,
}


def for_librdkafka(given: Mapping[str, str]) -> dict[str, str]:
    """`given` is without the prefix `kafka.`; raises WrongOption for settings without a
    counterpart in librdkafka."""
    for name in given:
        if name in _REFUSED:
            raise WrongOption(f"option kafka.{name} is not supported: {_REFUSED[name]}")
    try:
        return java_options.for_librdkafka(given)
    except ValueError as wrong:
        raise WrongOption(f"option kafka.{wrong}") from None


def may_be_idempotent(producer: Mapping[str, object]) -> bool:
    """The Java client turns idempotence off where another setting excludes it; librdkafka
    refuses such settings."""
    in_flight = str(producer.get("max.in.flight.requests.per.connection", ""))
    return (
        str(producer.get("acks")) not in ("0", "1")
        and str(producer.get("retries")) != "0"
        and not (in_flight.isdecimal() and int(in_flight) > _MOST_IN_FLIGHT)
    )
