"""Settings of the clients: wrong ones are refused before the run."""

from __future__ import annotations

from typing import Any

import pytest

from interfaces.spark.jobs.perf.clients import producer_settings, require_settings
from interfaces.spark.jobs.perf.workload import Workload
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.failures import WrongOption


def options(**given: str) -> KafkaOptions:
    named = {f"kafka.{name.replace('_', '.')}": value for name, value in given.items()}
    return KafkaOptions({"kafka.bootstrap.servers": "127.0.0.1:1", **named})


@pytest.mark.parametrize(
    ("given", "producer", "is_idempotent"),
    [
        ({}, {}, True),
        ({"acks": "1"}, {}, False),
        ({"acks": "all"}, {}, True),
        ({}, {"acks": 0}, False),
        ({"acks": "1"}, {"acks": "all"}, True),
    ],
)
def test_a_producer_with_fewer_acks_is_not_idempotent(
    given: dict[str, str], producer: dict[str, Any], is_idempotent: bool
) -> None:
    workload = Workload(producer=producer)
    settings = producer_settings(options(**given), workload)
    assert settings.get("enable.idempotence", False) == is_idempotent
    require_settings(options(**given), workload)


@pytest.mark.parametrize(
    ("workload", "line"),
    [
        (
            Workload(messageSize=1_000_000),
            "a record of 1000000 bytes and its key are more than the client's message.max.bytes "
            "(1000000); -X message.max.bytes=N allows more, if the broker does",
        ),
        (
            Workload(producer={"compresion.type": "lz4"}),
            'producer: No such configuration property: "compresion.type"',
        ),
        (
            Workload(consumer={"fetch.wait.max.ms": "long"}),
            'consumer: Invalid value for configuration property "fetch.wait.max.ms"',
        ),
        (
            Workload(producer={"message.max.bytes": "x"}),
            "message.max.bytes: 'x' is no whole number",
        ),
    ],
)
def test_settings_that_clients_refuse_are_one_line(workload: Workload, line: str) -> None:
    with pytest.raises(WrongOption) as refusal:
        require_settings(options(), workload)
    assert str(refusal.value) == line


def test_a_larger_maximum_allows_larger_records() -> None:
    require_settings(options(message_max_bytes="3000000"), Workload(messageSize=2_000_000))
