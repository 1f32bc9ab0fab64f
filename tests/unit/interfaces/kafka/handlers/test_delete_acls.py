from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from tests.fakes.client import FakeClient


@pytest.mark.parametrize("version", [1, 2, 3])
def test_each_filter_is_refused_as_security_is_disabled(client: FakeClient, version: int) -> None:
    request = DeleteAclsRequest(filters=[DeleteAclsFilter(), DeleteAclsFilter()])
    answer = client.ask(request, version)
    assert [(one.error_code, one.error_message) for one in answer.filter_results] == [
        (54, "No Authorizer is configured.")
    ] * 2
