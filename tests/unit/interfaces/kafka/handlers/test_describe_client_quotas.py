from __future__ import annotations

import pytest

from tests.fakes.client import FakeClient
from tests.fakes.structs import request_for


@pytest.mark.parametrize("version", [0, 1])
@pytest.mark.parametrize(("entity", "code", "entries"), [("user", 0, []), ("planet", 35, None)])
def test_there_are_no_quotas_and_an_unknown_entity_is_refused(
    client: FakeClient, version: int, entity: str, code: int, entries: list[object] | None
) -> None:
    component = {"entity_type": entity, "match_type": 2, "match": None}
    response = client.request(
        request_for("describe_client_quotas", components=[component]), version
    )
    assert (response.error_code, bool(response.error_message)) == (code, code != 0)
    assert response.entries == entries
