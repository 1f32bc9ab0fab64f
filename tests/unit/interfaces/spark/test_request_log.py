"""The report on the request log and the broker agree on APIs that wait."""

from __future__ import annotations

from interfaces.kafka.requests.apis import BY_KEY
from interfaces.kafka.requests.dispatch import Routes
from interfaces.spark.jobs.requests import _WAIT_FOR_OTHERS


def test_apis_that_wait_for_others_are_those_the_broker_does_not_log_as_slow() -> None:
    routes = [Routes().find(key, api.max_version) for key, api in BY_KEY.items()]
    waiting = {route.title for route in routes if route and route.waits_for_others}
    assert waiting == set(_WAIT_FOR_OTHERS)
