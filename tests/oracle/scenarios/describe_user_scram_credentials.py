"""No user was ever made."""

from __future__ import annotations

from interfaces.kafka.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


def request(*names: str) -> DescribeUserScramCredentialsRequest:
    return DescribeUserScramCredentialsRequest(users=[UserName(name=name) for name in names])


@scenario("describe_user_scram_credentials")
def users(run: ScenarioRun) -> None:
    run.send("all of them", DescribeUserScramCredentialsRequest(users=None))
    run.send("none", request())
    run.send("one", request("alice"))
    run.send("two", request("bob", "alice"))
    run.send("an empty name", request(""))
    run.send("one twice", request("alice", "bob", "alice"))
    run.send("one three times", request("alice", "alice", "alice"))


@scenario("describe_user_scram_credentials")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_user_scram_credentials", b"")
