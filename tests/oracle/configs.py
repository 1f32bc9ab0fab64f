"""What scenarios about configs share: a change that Kafka's broker has heard of when it returns.

What is set for brokers is seen by all scenarios, so each takes it back.
"""

from __future__ import annotations

import time

from interfaces.kafka.wire.messages.describe_configs import DescribeConfigsResponse
from interfaces.kafka.wire.messages.incremental_alter_configs import IncrementalAlterConfigsResponse
from tests.fakes.config_requests import DELETE, SET, changed, described
from tests.oracle.teller import PATIENCE_S, Teller

DESCRIBE, ALTER = 4, 1
_PAUSE_S = 0.01


def becomes(tell: Teller, kind: int, name: str, key: str, value: str | None) -> None:
    """Waits until the config has this value; None: until it has none, or is not told at all."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        asked = described((kind, name), keys=[key])
        [result] = tell.call(asked, DescribeConfigsResponse, DESCRIBE).results
        values = [one.value for one in result.configs if one.value is not None]
        if values == ([] if value is None else [value]):
            return
        time.sleep(_PAUSE_S)
    raise AssertionError(f"{key} of {name!r} never became {value}")


def is_set(tell: Teller, kind: int, name: str, key: str, value: str) -> None:
    _change(tell, kind, name, key, SET, value)
    becomes(tell, kind, name, key, value)


def is_taken_back(tell: Teller, kind: int, name: str, key: str, then: str | None) -> None:
    """Then it has this value again."""
    _change(tell, kind, name, key, DELETE, None)
    becomes(tell, kind, name, key, then)


def _change(
    tell: Teller, kind: int, name: str, key: str, operation: int, value: str | None
) -> None:
    asked = changed((kind, name, [(key, operation, value)]))
    [answer] = tell.call(asked, IncrementalAlterConfigsResponse, ALTER).responses
    assert answer.error_code == 0, answer
