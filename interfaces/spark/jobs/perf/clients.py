"""Settings of the clients: our defaults, those of the command line, those of the workload file."""

from __future__ import annotations

from typing import Any

from interfaces.spark.jobs.perf.workload import Workload
from interfaces.spark.kafka.client_settings import may_be_idempotent
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.reachable import look
from interfaces.spark.query.failures import JobFailed, WrongOption

#: Records in flight are bounded by bytes. Without auto creation a topic that was deleted when the
#: run was interrupted is not created again by a task that has not ended yet.
_PRODUCER = {
    "enable.idempotence": True,
    "linger.ms": 5,
    "queue.buffering.max.kbytes": 64 * 1024,
    "allow.auto.create.topics": False,
}
_CONSUMER = {
    "enable.auto.commit": False,
    "auto.offset.reset": "error",
    "fetch.wait.max.ms": 100,
    "queued.max.messages.kbytes": 64 * 1024,
    "fetch.message.max.bytes": 4 * 1024 * 1024,
}
_LONGEST_KEY = 20
_LARGEST = "message.max.bytes"
#: The default of librdkafka.
_LARGEST_BYTES = 1_000_000


def producer_settings(options: KafkaOptions, workload: Workload) -> dict[str, Any]:
    given = {**options.client(), **workload.producer}
    ours = dict(_PRODUCER)
    if not may_be_idempotent(given):
        del ours["enable.idempotence"]
    largest = _number(given.get(_LARGEST, _LARGEST_BYTES))
    if workload.messageSize + _LONGEST_KEY > largest:
        raise WrongOption(
            f"a record of {workload.messageSize} bytes and its key are more than the client's "
            f"{_LARGEST} ({largest}); -X {_LARGEST}=N allows more, if the broker does"
        )
    return {**ours, **given}


def consumer_settings(options: KafkaOptions, workload: Workload) -> dict[str, Any]:
    return {**_CONSUMER, **options.client(), **workload.consumer}


def require_settings(options: KafkaOptions, workload: Workload) -> None:
    """Before the run: in a worker a wrong setting would fail a task."""
    from confluent_kafka import Consumer, KafkaException, Producer

    for what, make, settings in (
        ("producer", Producer, producer_settings(options, workload)),
        ("consumer", Consumer, {"group.id": "-", **consumer_settings(options, workload)}),
    ):
        try:
            made: Any = make(settings)
        except KafkaException as refusal:
            raise WrongOption(f"{what}: {refusal.args[0].str()}") from None
        except (ValueError, TypeError) as refusal:
            raise WrongOption(f"{what}: {refusal}") from None
        if what == "consumer":
            made.close()


def reason_of(error: Any) -> str:
    """Of an `error_cb`: empty where it only sums up the errors of each broker."""
    from confluent_kafka import KafkaError

    return "" if error.code() == KafkaError._ALL_BROKERS_DOWN else str(error.str())


def why_silent(servers: str, reason: str) -> str:
    """Why no response comes: the broker cannot be reached, or the last error of the client."""
    try:
        look(servers)
    except JobFailed as unreachable:
        return str(unreachable)
    return reason or "the broker sends no response"


def _number(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise WrongOption(f"{_LARGEST}: {value!r} is no whole number") from None
