from __future__ import annotations

import pytest

from tests.fakes.client import FakeClient
from tests.fakes.structs import request_for


@pytest.mark.parametrize(
    ("names", "expected"),
    [([], []), (["alice", "bob", "alice"], [("alice", 92), ("bob", 91)])],
)
def test_no_user_exists_and_a_name_that_appears_twice_has_its_own_code(
    client: FakeClient, names: list[str], expected: list[tuple[str, int]]
) -> None:
    users = [{"name": name} for name in names] or None
    response = client.request(request_for("describe_user_scram_credentials", users=users), 0)
    assert response.error_code == 0
    assert [(one.user, one.error_code) for one in response.results] == expected
    assert all(one.error_message for one in response.results)
