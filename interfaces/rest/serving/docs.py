"""Prints the OpenAPI description, without a broker: `python -m interfaces.rest.serving.docs`."""

from __future__ import annotations

import json
from typing import Any, cast

from application.broker import Broker
from domain.configs.broker import BrokerConfig
from interfaces.rest.admin import Admin
from interfaces.rest.serving.app import create_app


class _Unasked:
    """Stands for what the routes ask only when they are asked."""

    def __getattr__(self, name: str) -> _Unasked:
        return self


def openapi() -> dict[str, Any]:
    """The description that a broker serves under /openapi.json."""
    unasked: Any = _Unasked()
    broker = cast(Broker, _BrokerWithSettings())
    admin = Admin(
        broker=broker,
        events=unasked,
        request_log=unasked,
        clock=unasked,
        version="any",
        started_at_ms=0,
        requests=unasked,
        metrics=unasked,
        counted=unasked,
        connections=unasked,
        listeners=unasked,
        checks={},
        origin=unasked,
        storage="",
    )
    return create_app(admin).openapi()


class _BrokerWithSettings(_Unasked):
    config = BrokerConfig()
    cluster_id = ""


if __name__ == "__main__":
    print(json.dumps(openapi(), indent=1, sort_keys=True))
