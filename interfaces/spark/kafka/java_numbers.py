"""Numbers among the settings of a Java client: what it takes, and what librdkafka takes instead.

A number that is wrong for Java is refused by the name that it was given with. One that Java takes
and librdkafka has no room for becomes the nearest that there is: a batch of no bytes is one of a
single record, a wait without an end one of days; -1, where Java has it, is librdkafka's 0.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from interfaces.spark.query.failures import WrongOption

_INT, _LONG = 2**31 - 1, 2**63 - 1
_DAY_MS, _HOUR_MS = 86_400_000, 3_600_000


class Number(NamedTuple):
    #: Of librdkafka.
    name: str
    least: int
    most: int
    #: Of Java.
    java_least: int = 0
    java_most: int = _INT
    #: librdkafka counts in these.
    unit: int = 1


def _long(name: str, least: int, most: int, java_least: int = 0) -> Number:
    return Number(name, least, most, java_least, _LONG)


NUMBERS = {
    "auto.commit.interval.ms": Number("auto.commit.interval.ms", 0, _DAY_MS),
    "batch.size": Number("batch.size", 1, _INT),
    "buffer.memory": Number("queue.buffering.max.kbytes", 1, _INT, 0, _LONG, 1024),
    "connections.max.idle.ms": _long("connections.max.idle.ms", 0, _INT, -_LONG),
    "delivery.timeout.ms": Number("delivery.timeout.ms", 1, _INT, 1),
    "fetch.max.bytes": Number("fetch.max.bytes", 0, _INT - 512),
    "fetch.max.wait.ms": Number("fetch.wait.max.ms", 0, 300_000),
    "fetch.min.bytes": Number("fetch.min.bytes", 1, 100_000_000),
    "heartbeat.interval.ms": Number("heartbeat.interval.ms", 1, _HOUR_MS),
    "linger.ms": _long("linger.ms", 0, 900_000),
    "max.in.flight.requests.per.connection": Number(
        "max.in.flight.requests.per.connection", 1, 1_000_000, 1
    ),
    "max.partition.fetch.bytes": Number("fetch.message.max.bytes", 1, 1_000_000_000),
    "max.poll.interval.ms": Number("max.poll.interval.ms", 1, _DAY_MS, 1),
    "max.request.size": Number("message.max.bytes", 1000, 1_000_000_000),
    "metadata.max.age.ms": _long("metadata.max.age.ms", 1, _DAY_MS),
    "receive.buffer.bytes": Number("socket.receive.buffer.bytes", 0, 100_000_000, -1),
    "reconnect.backoff.max.ms": _long("reconnect.backoff.max.ms", 0, _HOUR_MS),
    "reconnect.backoff.ms": _long("reconnect.backoff.ms", 0, _HOUR_MS),
    "request.timeout.ms": Number("socket.timeout.ms", 10, 300_000),
    "retries": Number("retries", 0, _INT),
    "retry.backoff.max.ms": _long("retry.backoff.max.ms", 1, 300_000),
    "retry.backoff.ms": _long("retry.backoff.ms", 1, 300_000),
    "sasl.kerberos.min.time.before.relogin": _long(
        "sasl.kerberos.min.time.before.relogin", 0, _DAY_MS, -_LONG
    ),
    "sasl.oauthbearer.assertion.claim.exp.seconds": Number(
        "sasl.oauthbearer.assertion.claim.exp.seconds", 1, _INT, 0, 86_400
    ),
    "sasl.oauthbearer.assertion.claim.nbf.seconds": Number(
        "sasl.oauthbearer.assertion.claim.nbf.seconds", 0, _INT, 0, 3_600
    ),
    "send.buffer.bytes": Number("socket.send.buffer.bytes", 0, 100_000_000, -1),
    "session.timeout.ms": Number("session.timeout.ms", 1, _HOUR_MS, -_INT),
    "socket.connection.setup.timeout.ms": _long(
        "socket.connection.setup.timeout.ms", 1000, _INT, -_LONG
    ),
    "transaction.timeout.ms": Number("transaction.timeout.ms", 1000, _INT, -_INT),
}
#: Each counts where kafka.compression.type names its codec.
LEVELS = {
    "compression.gzip.level": Number("compression.level", -1, 9, -1, 9),
    "compression.lz4.level": Number("compression.level", 1, 12, 1, 17),
    "compression.zstd.level": Number("compression.level", 1, 12, -131_072, 22),
}


def number_for_librdkafka(name: str, text: str) -> tuple[str, str]:
    """Its name there, and its value."""
    known = NUMBERS.get(name) or LEVELS[name]
    if name == "linger.ms" and re.fullmatch(r"\s*\d{1,5}\.\d+\s*", text):
        return name, text  # librdkafka's own
    if not re.fullmatch(r"\s*[+-]?\d{1,19}\s*", text):
        raise WrongOption(f"kafka.{name}: {text!r} is no whole number")
    value = int(text)
    if value < known.java_least:
        raise WrongOption(f"kafka.{name}: {value} is less than {known.java_least}")
    if value > known.java_most:
        raise WrongOption(f"kafka.{name}: {value} is more than {known.java_most}")
    return known.name, str(min(max(value // known.unit, known.least), known.most))
