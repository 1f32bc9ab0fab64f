"""Sets quotas, which confluent-kafka's AdminClient cannot."""

from __future__ import annotations

import struct
from typing import Protocol

from tests.e2e.raw_client import RawClient, array, string

ALTER_CLIENT_QUOTAS = 49


class Broker(Protocol):
    def connect(self) -> RawClient: ...


def set_quota(broker: Broker, client_id: str, **quotas: float | None) -> None:
    """None removes a quota."""
    entity = array([string("client-id") + string(client_id)])
    ops = array(
        string(key) + struct.pack(">d?", value or 0.0, value is None)
        for key, value in quotas.items()
    )
    with broker.connect() as client:
        body = array([entity + ops]) + b"\0"
        response = client.request(ALTER_CLIENT_QUOTAS, 0, body)
        _throttle, count, error = response.take("iih")
        assert (count, error) == (1, 0)
