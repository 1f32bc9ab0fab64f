from __future__ import annotations

import struct

from interfaces.kafka.wire.messages.api_versions import ApiVersionsRequest
from tests.fakes.admin import FakeAdmin
from tests.fakes.client import FakeKafka, frame


def test_each_connection_has_its_client_and_its_bytes() -> None:
    kafka = FakeKafka()
    admin = FakeAdmin(kafka)
    admin.connections = kafka.shared.sessions  # type: ignore[assignment]
    assert admin.get("/connz").json["data"] == []
    client = kafka.client("192.0.2.9")
    request = ApiVersionsRequest(client_software_name="a-lib", client_software_version="1.2")
    client.request(request, 3)
    [found] = admin.get("/connz").json["data"]
    assert found.pop("since_ms") > 0
    sent = frame(request, 3)
    assert found.pop("bytes_out") > struct.calcsize(">ii")
    assert found == {
        "connection_id": 1,
        "client_id": "a-client",
        "software_name": "a-lib",
        "software_version": "1.2",
        "listener": "PLAINTEXT",
        "address": "192.0.2.9:40001",
        "in_flight": 0,
        "bytes_in": len(sent),
        "unread_bytes": 0,
        "idle": False,
    }
