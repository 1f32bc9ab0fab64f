"""What perf's clients are told, and what is refused before Spark starts."""

from __future__ import annotations

from typing import Any

import pytest

from interfaces.spark.failures import WrongOption
from interfaces.spark.jobs.perf.clients import check_clients, producer_settings

OURS = {"enable.idempotence": True, "linger.ms": 5}


@pytest.mark.parametrize("given", [{"acks": "1"}, {"acks": 0}, {"request.required.acks": "1"}])
def test_a_producer_that_waits_for_less_is_not_idempotent(given: dict[str, Any]) -> None:
    settings = producer_settings(OURS, given)
    assert settings["enable.idempotence"] is False
    check_clients(settings, {}, 1024)


def test_otherwise_it_is_unless_it_is_said() -> None:
    assert producer_settings(OURS, {"acks": "all"})["enable.idempotence"] is True
    assert producer_settings(OURS, {"enable.idempotence": "false"})["enable.idempotence"] == "false"


@pytest.mark.parametrize(
    ("producer", "consumer", "size", "told"),
    [
        ({"compresion.type": "lz4"}, {}, 10, r"^producer: there is no option .*compression\.type"),
        ({}, {"fetch.wait.max.ms": "soon"}, 10, r"^consumer: .*fetch\.wait\.max\.ms"),
        ({"linger.ms": [1]}, {}, 10, r"^producer: "),
        (
            {},
            {},
            2_000_000,
            r"^records of 2000000 bytes are larger .* message\.max\.bytes, 1000000",
        ),
        ({"message.max.bytes": "5000"}, {}, 5001, r"message\.max\.bytes, 5000;"),
    ],
)
def test_what_cannot_be_is_refused(
    producer: dict[str, Any], consumer: dict[str, Any], size: int, told: str
) -> None:
    with pytest.raises(WrongOption, match=told):
        check_clients({**OURS, **producer}, consumer, size)


def test_larger_records_may_be_wanted() -> None:
    check_clients({**OURS, "message.max.bytes": "3000000"}, {"group.id": "mine"}, 2_000_000)
