"""Config changes of scenarios, which wait until Kafka's broker has applied them.

Broker configs affect all scenarios, so each scenario resets its own.
"""

from __future__ import annotations

import time

from interfaces.kafka.wire.messages.describe_configs import DescribeConfigsResponse
from interfaces.kafka.wire.messages.incremental_alter_configs import IncrementalAlterConfigsResponse
from tests.fakes.config_requests import DELETE, SET, changed, described
from tests.oracle.scenario_run import PATIENCE_S, ScenarioRun

DESCRIBE, ALTER = 4, 1
_PAUSE_S = 0.01


def wait_for_config(run: ScenarioRun, kind: int, name: str, key: str, value: str | None) -> None:
    """Waits until the config has this value; None: until it has none or is not described."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        request = described((kind, name), keys=[key])
        [result] = run.call(request, DescribeConfigsResponse, DESCRIBE).results
        values = [one.value for one in result.configs if one.value is not None]
        if values == ([] if value is None else [value]):
            return
        time.sleep(_PAUSE_S)
    raise AssertionError(f"{key} of {name!r} never became {value}")


def set_config(run: ScenarioRun, kind: int, name: str, key: str, value: str) -> None:
    _change(run, kind, name, key, SET, value)
    wait_for_config(run, kind, name, key, value)


def reset_config(run: ScenarioRun, kind: int, name: str, key: str, then: str | None) -> None:
    """Waits until the config has its default `then` again."""
    _change(run, kind, name, key, DELETE, None)
    wait_for_config(run, kind, name, key, then)


def _change(
    run: ScenarioRun, kind: int, name: str, key: str, operation: int, value: str | None
) -> None:
    request = changed((kind, name, [(key, operation, value)]))
    [response] = run.call(request, IncrementalAlterConfigsResponse, ALTER).responses
    assert response.error_code == 0, response
