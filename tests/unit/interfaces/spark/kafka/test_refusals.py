"""Connection errors of librdkafka that end a wait."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from interfaces.spark.kafka import refusals
from interfaces.spark.kafka.refusals import Refusals
from interfaces.spark.query.failures import JobFailed

WRONG = "sasl_ssl://h:1/bootstrap: SASL authentication error: no (after 303ms in state AUTH_REQ)"
GONE = "h:1/bootstrap: Connect to 1.2.3.4:1 failed: Connection refused (after 0ms in state CONNECT)"
ALL_DOWN = KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down")


@pytest.fixture
def complaints(monkeypatch: pytest.MonkeyPatch) -> Refusals:
    monkeypatch.setattr(refusals, "GRACE_S", 0.0)
    return Refusals()


def test_a_wrong_password_ends_a_wait_with_the_reason(complaints: Refusals) -> None:
    complaints(KafkaError(KafkaError._AUTHENTICATION, WRONG))
    complaints(ALL_DOWN)
    with pytest.raises(JobFailed, match="SASL authentication error: no"):
        complaints.check()


def test_a_wait_goes_on_while_no_broker_listens(complaints: Refusals) -> None:
    complaints(KafkaError(KafkaError._TRANSPORT, GONE))
    complaints(ALL_DOWN)
    complaints.check()
    assert complaints.why() == GONE


def test_another_broker_may_accept_the_client_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "GRACE_S", 60.0)
    complaints = Refusals()
    complaints(KafkaError(KafkaError._AUTHENTICATION, WRONG))
    complaints.check()


def test_connections_that_are_closed_without_an_error_hint_at_the_protocol(
    complaints: Refusals,
) -> None:
    complaints.check()
    assert complaints.why() == ""
    complaints(ALL_DOWN)
    with pytest.raises(JobFailed, match=r"kafka\.security\.protocol"):
        complaints.check()
