"""Short builders of config requests; resources are (type number, name)."""

from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages import alter_configs, incremental_alter_configs
from interfaces.kafka.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from tests.fakes.client import FakeClient

TOPIC, BROKER, LOGGER, METRICS, GROUP = 2, 4, 8, 16, 32
SET, DELETE, APPEND, SUBTRACT = range(4)

Operation = tuple[str, int, str | None]


def described(
    *resources: tuple[int, str],
    keys: list[str] | None = None,
    synonyms: bool = True,
    documentation: bool = False,
) -> DescribeConfigsRequest:
    return DescribeConfigsRequest(
        resources=[
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=keys)
            for kind, name in resources
        ],
        include_synonyms=synonyms,
        include_documentation=documentation,
    )


def replaced(
    *resources: tuple[int, str, dict[str, str | None]], only: bool = False
) -> alter_configs.AlterConfigsRequest:
    return alter_configs.AlterConfigsRequest(
        resources=[
            alter_configs.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[
                    alter_configs.AlterableConfig(name=key, value=value)
                    for key, value in configs.items()
                ],
            )
            for kind, name, configs in resources
        ],
        validate_only=only,
    )


def changed(
    *resources: tuple[int, str, list[Operation]], only: bool = False
) -> incremental_alter_configs.IncrementalAlterConfigsRequest:
    return incremental_alter_configs.IncrementalAlterConfigsRequest(
        resources=[
            incremental_alter_configs.AlterConfigsResource(
                resource_type=kind,
                resource_name=name,
                configs=[
                    incremental_alter_configs.AlterableConfig(
                        name=key, config_operation=operation, value=value
                    )
                    for key, operation, value in operations
                ],
            )
            for kind, name, operations in resources
        ],
        validate_only=only,
    )


def change(client: FakeClient, kind: int, name: str, *operations: Operation) -> tuple[int, str]:
    """The error code and message of the only resource."""
    [response] = client.ask(changed((kind, name, list(operations))), 1).responses
    return response.error_code, response.error_message or ""


def set_configs(client: FakeClient, kind: int, name: str, **configs: str) -> None:
    operations = [(key.replace("_", "."), SET, value) for key, value in configs.items()]
    assert change(client, kind, name, *operations) == (0, "")


def describe(client: FakeClient, kind: int, name: str, *keys: str) -> dict[str, Any]:
    """Configs by name."""
    [result] = client.ask(described((kind, name), keys=list(keys) or None), 4).results
    assert result.error_code == 0, result
    return {config.name: config for config in result.configs}


def value_of(client: FakeClient, kind: int, name: str, key: str) -> tuple[str | None, int]:
    """The value and its source."""
    config = describe(client, kind, name, key)[key]
    return config.value, config.config_source
