from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.create_acls import AclCreation, CreateAclsRequest
from tests.fakes.client import FakeClient


@pytest.mark.parametrize("version", [1, 2, 3])
def test_each_acl_is_refused_as_security_is_disabled(client: FakeClient, version: int) -> None:
    answer = client.ask(CreateAclsRequest(creations=[AclCreation(), AclCreation()]), version)
    assert [(one.error_code, one.error_message) for one in answer.results] == [
        (54, "No Authorizer is configured.")
    ] * 2
