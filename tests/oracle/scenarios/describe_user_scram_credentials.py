"""No user was ever made."""

from __future__ import annotations

from interfaces.kafka.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def asked(*names: str) -> DescribeUserScramCredentialsRequest:
    return DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names])


@scenario("describe_user_scram_credentials")
def users(tell: Teller) -> None:
    tell.ask("all of them", DescribeUserScramCredentialsRequest(users=None))
    tell.ask("none", asked())
    tell.ask("one", asked("alice"))
    tell.ask("two", asked("bob", "alice"))
    tell.ask("an empty name", asked(""))
    tell.ask("one twice", asked("alice", "bob", "alice"))
    tell.ask("one three times", asked("alice", "alice", "alice"))


@scenario("describe_user_scram_credentials")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "describe_user_scram_credentials", b"")
