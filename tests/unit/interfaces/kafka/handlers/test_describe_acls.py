from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.describe_acls import DescribeAclsRequest
from tests.fakes.client import FakeClient


@pytest.mark.parametrize("version", [1, 3])
def test_without_an_authorizer_security_is_disabled(client: FakeClient, version: int) -> None:
    response = client.request(DescribeAclsRequest(resource_type_filter=1), version)
    assert (response.error_code, bool(response.error_message), response.resources) == (54, True, [])
