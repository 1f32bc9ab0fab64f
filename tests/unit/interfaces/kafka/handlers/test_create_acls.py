from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.create_acls import AclCreation, CreateAclsRequest
from tests.fakes.client import FakeClient


@pytest.mark.parametrize("version", [1, 3])
def test_without_an_authorizer_each_acl_is_refused(client: FakeClient, version: int) -> None:
    response = client.request(CreateAclsRequest(creations=[AclCreation(), AclCreation()]), version)
    assert [(one.error_code, bool(one.error_message)) for one in response.results] == [
        (54, True)
    ] * 2
