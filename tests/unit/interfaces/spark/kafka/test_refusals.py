"""What librdkafka complains of, and what of it ends a wait."""

from __future__ import annotations

import socket

import pytest
from confluent_kafka import KafkaError

from interfaces.spark.kafka import refusals
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.refusals import Refusals
from interfaces.spark.query.failures import JobFailed

WRONG = "sasl_ssl://h:1/bootstrap: SASL authentication error: no (after 303ms in state AUTH_REQ)"
GONE = "h:1/bootstrap: Connect to 1.2.3.4:1 failed: Connection refused (after 0ms in state CONNECT)"


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "GRACE_S", 0.0)


def refused(servers: str = "127.0.0.1:1", **settings: str) -> Refusals:
    return Refusals(KafkaOptions({"kafka.bootstrap.servers": servers, **settings}))


def test_a_wrong_password_ends_a_wait_with_what_the_broker_says() -> None:
    complaints = refused()
    complaints(KafkaError(KafkaError._AUTHENTICATION, WRONG))
    complaints(KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"))
    with pytest.raises(JobFailed, match=r"^no .* in: h:1: SASL authentication error: no$"):
        complaints.check()


def test_a_broker_that_is_gone_is_waited_for() -> None:
    complaints = refused()
    complaints(KafkaError(KafkaError._TRANSPORT, GONE))
    complaints(KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"))
    complaints.check()
    assert complaints.why() == "h:1: Connect to 1.2.3.4:1 failed: Connection refused"


def test_others_may_let_it_in_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "GRACE_S", 60.0)
    complaints = refused()
    complaints(KafkaError(KafkaError._AUTHENTICATION, WRONG))
    complaints.check()


def test_without_a_complaint_nothing_is_suspected_before_the_connection_was_closed() -> None:
    complaints = refused()
    complaints.check()
    assert complaints.why() == ""


def test_what_closes_connections_and_speaks_no_tls_may_want_a_password() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(30)
        complaints = refused(f"127.0.0.1:{server.getsockname()[1]}")
    complaints(KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down"))
    complaints.check()
    assert "does it want a password" in complaints.why()
