"""Settings of the clients: ours, those of the command line, those of the workload, which win."""

from __future__ import annotations

from typing import Any

from interfaces.spark.jobs.perf.workload import Workload
from interfaces.spark.kafka.client_settings import may_be_idempotent
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.failures import WrongOption

#: Records under way are bounded by bytes; a batch waits so long for more. A topic that was removed
#: when the run was interrupted does not come back by a task that has not ended yet.
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
#: librdkafka's own.
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
    """Told before the run, of the file and the command line: workers would say it at length."""
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


def complaint_of(error: Any) -> str:
    """Told to an `error_cb`: nothing new where it only sums up what was told of each broker."""
    from confluent_kafka import KafkaError

    return "" if error.code() == KafkaError._ALL_BROKERS_DOWN else str(error.str())


def _number(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError):
        raise WrongOption(f"{_LARGEST}: {value!r} is no whole number") from None
