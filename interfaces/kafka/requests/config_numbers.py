"""Numbers on the wire for config sources, types and operations."""

from __future__ import annotations

from domain.configs.alteration import Operation
from domain.configs.settings.definition import Kind, Source

SOURCES: dict[Source, int] = {
    Source.TOPIC: 1,
    Source.DYNAMIC_BROKER: 2,
    Source.DYNAMIC_DEFAULT_BROKER: 3,
    Source.STATIC_BROKER: 4,
    Source.DEFAULT: 5,
    Source.GROUP: 8,
}

TYPES: dict[Kind, int] = {
    Kind.BOOLEAN: 1,
    Kind.STRING: 2,
    Kind.INT: 3,
    Kind.LONG: 5,
    Kind.DOUBLE: 6,
    Kind.LIST: 7,
    Kind.PASSWORD: 9,
}

OPERATIONS: dict[int, Operation] = {
    0: Operation.SET,
    1: Operation.DELETE,
    2: Operation.APPEND,
    3: Operation.SUBTRACT,
}
