"""What both ways to alter configs share: what is wrong with a request as it stands, and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from application.configs.alter import Altered, WantedConfigs
from application.pending import Pending
from domain.configs.alteration import Alteration, Operation
from domain.configs.resource import Resource, ResourceKind
from domain.errors import BrokerError, InvalidRequest
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.config_numbers import OPERATIONS, RESOURCE_KINDS
from interfaces.kafka.wire.schema import Response

R = TypeVar("R", bound=Response)


class AskedConfig(NamedTuple):
    name: str
    value: str | None
    operation: int


class AskedResource(NamedTuple):
    kind: int
    name: str
    configs: list[AskedConfig]


Answers = list[tuple[AskedResource, Altered]]


def alter(
    asked: Sequence[AskedResource],
    call: Call,
    response: Callable[[Answers], R],
    *,
    validate_only: bool,
    replaces: bool,
) -> R | None:
    call.topics = sum(one.kind == 2 for one in asked)
    times = Counter((one.kind, one.name) for one in asked)
    answers: list[Altered] = []
    wanted: list[WantedConfigs] = []
    for one in asked:
        try:
            if times[one.kind, one.name] > 1:
                raise InvalidRequest("Each resource must appear at most once.")
            wanted.append(_wanted(one, replaces))
            answers.append(None)
        except BrokerError as refused:
            answers.append(refused.as_value())

    def joined(altered: list[Altered]) -> R:
        following = iter(altered)
        return response(
            [
                (one, next(following) if answer is None else answer)
                for one, answer in zip(asked, answers, strict=True)
            ]
        )

    altered = call.broker.alter_configs.alter(wanted, validate_only)
    if isinstance(altered, Pending):
        call.respond_later(altered, joined)
        return None
    return joined(altered)


def _wanted(asked: AskedResource, replaces: bool) -> WantedConfigs:
    if len({config.name for config in asked.configs}) < len(asked.configs):
        raise InvalidRequest("Error due to duplicate config keys")
    nulls = [
        config.name
        for config in asked.configs
        if config.value is None and OPERATIONS.get(config.operation) is not Operation.DELETE
    ]
    if nulls:
        raise InvalidRequest(f"Null value not supported for : {', '.join(nulls)}")
    kind = RESOURCE_KINDS.get(asked.kind)
    if kind is None or (replaces and kind is ResourceKind.BROKER_LOGGER):
        raise InvalidRequest(f"Unknown resource type {asked.kind}")
    alterations = [
        Alteration(config.name, _operation(config.operation), config.value or "")
        for config in asked.configs
    ]
    return WantedConfigs(Resource(kind, asked.name), alterations, replaces)


def _operation(number: int) -> Operation:
    if number not in OPERATIONS:
        raise InvalidRequest(f"Unknown operations type {number}")
    return OPERATIONS[number]


def told(answer: Altered, call: Call) -> tuple[int, str | None]:
    """Code and message."""
    return (0, None) if answer is None else (call.code(answer), answer.message)
