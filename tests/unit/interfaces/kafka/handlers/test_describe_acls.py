from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.describe_acls import DescribeAclsRequest
from tests.fakes.client import FakeClient


@pytest.mark.parametrize("version", [1, 3])
def test_without_an_authorizer_security_is_disabled(client: FakeClient, version: int) -> None:
    answer = client.ask(DescribeAclsRequest(resource_type_filter=1), version)
    assert (answer.error_code, bool(answer.error_message), answer.resources) == (54, True, [])
