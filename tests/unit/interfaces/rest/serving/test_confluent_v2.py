from __future__ import annotations

import pytest

from tests.fakes.admin import FakeAdmin

V3 = "/v3/clusters/{cluster_id}"
JSON = {"content-type": "application/vnd.kafka.json.v2+json"}
ACCEPT = {"accept": "application/vnd.kafka.v2+json"}


@pytest.mark.parametrize(
    ("method", "path", "headers", "instead"),
    [
        ("POST", "/topics/orders", JSON, f"POST {V3}/topics/orders/records"),
        ("POST", "/topics/orders/partitions/0", JSON, f"POST {V3}/topics/orders/records"),
        ("GET", "/topics", ACCEPT, f"GET {V3}/topics"),
        ("GET", "/v2/topics", {}, f"GET {V3}/topics"),
        ("POST", "/v2/topics/orders", {}, f"POST {V3}/topics/orders/records"),
        ("POST", "/consumers/g", JSON, f"GET {V3}/topics/{{topic_name}}/records"),
        ("GET", "/consumers/g/instances/i/records", {}, f"GET {V3}/topics/{{topic_name}}/records"),
    ],
)
def test_a_request_of_confluents_version_2_is_refused_with_the_path_of_version_3(
    admin: FakeAdmin, method: str, path: str, headers: dict[str, str], instead: str
) -> None:
    body = {"records": [{"value": 1}]} if method == "POST" else None
    response = admin.request(method, path, body, headers)
    assert (response.status, response.json["error_code"]) == (501, 501)
    assert response.json["message"].endswith(instead)
