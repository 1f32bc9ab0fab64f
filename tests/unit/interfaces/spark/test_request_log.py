"""What the report on the request log knows of the broker is what the broker does."""

from __future__ import annotations

from interfaces.kafka.requests.apis import BY_KEY
from interfaces.kafka.requests.dispatch import Routes
from interfaces.spark.jobs.requests import _WAIT_FOR_OTHERS


def test_who_waits_for_others_is_whom_the_broker_does_not_call_slow() -> None:
    routes = [Routes().find(key, api.max_version) for key, api in BY_KEY.items()]
    waiting = {route.title for route in routes if route and route.waits_for_others}
    assert waiting == set(_WAIT_FOR_OTHERS)
