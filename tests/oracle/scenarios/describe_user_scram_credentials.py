"""Without users, and with two; alter_user_scram_credentials.py alters them."""

from __future__ import annotations

from interfaces.kafka.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsResponse,
)
from interfaces.kafka.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun
from tests.oracle.scenarios.alter_user_scram_credentials import (
    SHA_256,
    SHA_512,
    cleared,
    deletion,
    upsertion,
    wait_for,
)
from tests.oracle.scenarios.alter_user_scram_credentials import request as alteration


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
def users_with_credentials(run: ScenarioRun) -> None:
    first = alteration(upsertion("jan"), upsertion("kim", SHA_512, 5000))
    run.call(first, AlterUserScramCredentialsResponse, 0)
    run.call(alteration(upsertion("kim")), AlterUserScramCredentialsResponse, 0)
    wait_for(run, "kim", {SHA_256: 4096, SHA_512: 5000})
    run.send("all of them", DescribeUserScramCredentialsRequest(users=None))
    run.send("none", request())
    run.send("one", request("kim"))
    run.send("one, and one that does not exist", request("jan", "len"))
    run.send("one twice", request("jan", "jan"))
    only = alteration(deletion("kim", SHA_512))
    run.call(only, AlterUserScramCredentialsResponse, 0)
    wait_for(run, "kim", {SHA_256: 4096})
    cleared(run, "jan", "kim")
    run.send("all are deleted", DescribeUserScramCredentialsRequest(users=None))


@scenario("describe_user_scram_credentials")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_user_scram_credentials", b"")
