"""Parses and completes AlterConfigs and IncrementalAlterConfigs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

from application.configs.alter import Altered, RequestedConfigs
from application.ports.pending import later
from domain.configs.alteration import Alteration, Operation
from domain.configs.resource import RESOURCE_KINDS, Resource, ResourceKind
from domain.errors import BrokerError, InvalidRequest
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.config_numbers import OPERATIONS
from interfaces.kafka.wire.schema import Response

R = TypeVar("R", bound=Response)


def alter(
    request: Any, call: Call, response: type[R], result: Callable[..., Any], *, replaces: bool
) -> None:
    """`replaces`: the named configs replace all configs of the resource (AlterConfigs)."""
    resources = request.resources
    call.topics = sum(one.resource_type == 2 for one in resources)
    times = Counter((one.resource_type, one.resource_name) for one in resources)
    refusals: list[Altered] = []
    parsed: list[RequestedConfigs] = []
    for one in resources:
        try:
            if times[one.resource_type, one.resource_name] > 1:
                raise InvalidRequest("Each resource must appear at most once.")
            parsed.append(_parsed(one, replaces))
            refusals.append(None)
        except BrokerError as refused:
            refusals.append(refused.as_value())

    def joined(altered: list[Altered]) -> R:
        following = iter(altered)
        results = []
        for one, early in zip(resources, refusals, strict=True):
            refused = next(following) if early is None else early
            code, message = (0, None) if refused is None else (call.code(refused), refused.message)
            results.append(result(code, message, one.resource_type, one.resource_name))
        return response(responses=results)

    alter_configs = call.broker.configs.alter_configs
    altered = alter_configs.alter(parsed, request.validate_only, call.requester)
    call.respond_later(later(altered), joined)


def _parsed(resource: Any, replaces: bool) -> RequestedConfigs:
    if len({config.name for config in resource.configs}) < len(resource.configs):
        raise InvalidRequest("Error due to duplicate config keys")
    operations = [_operation(config, replaces) for config in resource.configs]
    nulls = [
        config.name
        for config, operation in zip(resource.configs, operations, strict=True)
        if config.value is None and operation is not Operation.DELETE
    ]
    if nulls:
        raise InvalidRequest(f"Null value not supported for : {', '.join(nulls)}")
    kind = RESOURCE_KINDS.get(resource.resource_type)
    if kind is None or (replaces and kind is ResourceKind.BROKER_LOGGER):
        raise InvalidRequest(f"Unknown resource type {resource.resource_type}")
    alterations = []
    for config, operation in zip(resource.configs, operations, strict=True):
        if operation is None:
            raise InvalidRequest(f"Unknown operations type {config.config_operation}")
        alterations.append(Alteration(config.name, operation, config.value or ""))
    return RequestedConfigs(Resource(kind, resource.resource_name), alterations, replaces)


def _operation(config: Any, replaces: bool) -> Operation | None:
    return Operation.SET if replaces else OPERATIONS.get(config.config_operation)
