from __future__ import annotations

from interfaces.kafka.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from tests.fakes.client import FakeClient


def described(client: FakeClient, *names: str) -> tuple[int, list[tuple[str, int]]]:
    users = [UserName(name=name) for name in names] or None
    answer = client.ask(DescribeUserScramCredentialsRequest(users=users), 0)
    assert all(one.error_message for one in answer.results)
    return answer.error_code, [(one.user, one.error_code) for one in answer.results]


def test_there_are_no_users(client: FakeClient) -> None:
    assert described(client) == (0, [])


def test_a_user_that_is_named_does_not_exist(client: FakeClient) -> None:
    assert described(client, "alice", "bob") == (0, [("alice", 91), ("bob", 91)])


def test_a_user_that_is_named_twice_is_answered_once(client: FakeClient) -> None:
    assert described(client, "alice", "bob", "alice") == (0, [("alice", 92), ("bob", 91)])
