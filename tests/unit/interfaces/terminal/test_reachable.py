"""Whether a process listens at an address, over real sockets."""

from __future__ import annotations

import socket

import pytest

from interfaces.spark.kafka.reachable import look
from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.terminal.addresses import Address
from interfaces.terminal.reachable import BrokerUnreachable, first_reachable, why_not

CLOSED = Address("127.0.0.1", 1)


def test_the_first_reachable_address_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = Address(*server.getsockname())
        assert first_reachable([CLOSED, there]) == there
        look(f"{CLOSED}, PLAINTEXT://{there}")


def test_each_unreachable_address_is_named_with_its_reason() -> None:
    line = f"no broker at {CLOSED}: connection refused; {CLOSED}: connection refused"
    with pytest.raises(BrokerUnreachable) as unreachable:
        first_reachable([CLOSED, CLOSED])
    with pytest.raises(JobFailed) as failed:
        look(f"{CLOSED},{CLOSED}")
    assert str(unreachable.value) == str(failed.value) == line


def test_a_name_that_cannot_be_resolved_is_a_reason() -> None:
    reason = why_not(Address("x" * 70, 1), 1.0)
    assert reason is not None
    assert reason.reason.startswith("the name cannot be resolved (")


def test_an_invalid_address_is_a_wrong_option() -> None:
    with pytest.raises(WrongOption, match="'a:b'"):
        look("a:b")
