from __future__ import annotations

import pytest

from interfaces.kafka.wire.messages.describe_client_quotas import (
    ComponentData,
    DescribeClientQuotasRequest,
)
from tests.fakes.client import FakeClient


@pytest.mark.parametrize("version", [0, 1])
def test_there_are_no_quotas(client: FakeClient, version: int) -> None:
    users = ComponentData(entity_type="user", match_type=2, match=None)
    answer = client.ask(DescribeClientQuotasRequest(components=[users]), version)
    assert (answer.error_code, answer.error_message, answer.entries) == (0, "", [])


@pytest.mark.parametrize("version", [0, 1])
def test_a_filter_that_cannot_be_is_refused_as_a_whole(client: FakeClient, version: int) -> None:
    component = ComponentData(entity_type="planet")
    answer = client.ask(DescribeClientQuotasRequest(components=[component]), version)
    assert (answer.error_code, answer.error_message, answer.entries) == (
        *(35, "Unsupported entity type planet"),
        None,
    )
