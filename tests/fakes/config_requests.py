"""Short builders of config requests; resources are (type number, name)."""

from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.alter_configs import AlterConfigsRequest
from interfaces.kafka.wire.messages.describe_configs import DescribeConfigsRequest
from interfaces.kafka.wire.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from tests.fakes.client import FakeClient
from tests.fakes.structs import Fields, build

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)

Operation = tuple[str, int, str | None]


def described(
    *resources: tuple[int, str],
    keys: list[str] | None = None,
    synonyms: bool = True,
    documentation: bool = False,
) -> DescribeConfigsRequest:
    named = [{**_named(*one), "configuration_keys": keys} for one in resources]
    options = {"include_synonyms": synonyms, "include_documentation": documentation}
    return build(DescribeConfigsRequest, {"resources": named, **options})


def replaced(
    *resources: tuple[int, str, dict[str, str | None]], only: bool = False
) -> AlterConfigsRequest:
    altered = [
        {**_named(*named), "configs": [{"name": k, "value": v} for k, v in configs.items()]}
        for *named, configs in resources
    ]
    return build(AlterConfigsRequest, {"resources": altered, "validate_only": only})


def changed(
    *resources: tuple[int, str, list[Operation]], only: bool = False
) -> IncrementalAlterConfigsRequest:
    names = ("name", "config_operation", "value")
    altered = [
        {**_named(*named), "configs": [dict(zip(names, one, strict=True)) for one in operations]}
        for *named, operations in resources
    ]
    return build(IncrementalAlterConfigsRequest, {"resources": altered, "validate_only": only})


def _named(kind: Any, name: Any) -> Fields:
    return {"resource_type": kind, "resource_name": name}


def change(client: FakeClient, kind: int, name: str, *operations: Operation) -> tuple[int, str]:
    """The error code and message of the only resource."""
    [result] = client.request(changed((kind, name, list(operations))), 1).responses
    return result.error_code, result.error_message or ""


def set_configs(client: FakeClient, kind: int, name: str, **configs: str) -> None:
    operations = [(key.replace("_", "."), SET, value) for key, value in configs.items()]
    assert change(client, kind, name, *operations) == (0, "")


def describe(client: FakeClient, kind: int, name: str, *keys: str) -> dict[str, Any]:
    """Configs by name."""
    [result] = client.request(described((kind, name), keys=list(keys) or None), 4).results
    assert result.error_code == 0, result
    return {config.name: config for config in result.configs}


def value_of(client: FakeClient, kind: int, name: str, key: str) -> tuple[str | None, int]:
    """The value and its source."""
    config = describe(client, kind, name, key)[key]
    return config.value, config.config_source
