"""Whether anybody listens, over real sockets."""

from __future__ import annotations

import socket

import pytest

from interfaces.spark.kafka.reachable import look
from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.terminal.addresses import Address
from interfaces.terminal.reachable import BrokerUnreachable, first_reachable, why_not

NOBODY = Address("127.0.0.1", 1)


def test_the_first_that_takes_a_connection_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        there = Address(*server.getsockname())
        assert first_reachable([NOBODY, there]) == there
        look(f"{NOBODY}, PLAINTEXT://{there}")


def test_where_nobody_listens_each_address_has_its_reason() -> None:
    line = f"no broker at {NOBODY}: connection refused; {NOBODY}: connection refused"
    with pytest.raises(BrokerUnreachable) as nobody:
        first_reachable([NOBODY, NOBODY])
    with pytest.raises(JobFailed) as failed:
        look(f"{NOBODY},{NOBODY}")
    assert str(nobody.value) == str(failed.value) == line


def test_a_name_that_is_none_is_told() -> None:
    reason = why_not(Address("x" * 70, 1), 1.0)
    assert reason is not None
    assert reason.reason.startswith("the name cannot be resolved (")


def test_what_is_no_address_is_a_wrong_option() -> None:
    with pytest.raises(WrongOption, match="'a:b'"):
        look("a:b")
