from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from tests.fakes.client import FakeClient


@pytest.mark.parametrize("version", [1, 3])
def test_without_an_authorizer_each_filter_is_refused(client: FakeClient, version: int) -> None:
    filters = [DeleteAclsFilter(), DeleteAclsFilter()]
    results = client.request(DeleteAclsRequest(filters=filters), version).filter_results
    assert [(one.error_code, bool(one.error_message)) for one in results] == [(54, True)] * 2
