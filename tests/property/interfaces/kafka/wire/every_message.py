"""Every declared message, and every (message, version); those that no API serves need --long."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from interfaces.kafka.requests.apis import APIS
from interfaces.kafka.wire import messages
from interfaces.kafka.wire.schema import Message


def messages_of(module_name: str) -> list[type[Message]]:
    module = importlib.import_module(f"{messages.__name__}.{module_name}")
    return [
        found
        for found in vars(module).values()
        if isinstance(found, type)
        and issubclass(found, Message)
        and found.__module__ == module.__name__
    ]


SERVED = {api.name for api in APIS}
MODULES = sorted(module.name for module in pkgutil.iter_modules(messages.__path__))
#: Each with its marks.
DECLARED = [
    (message, () if module in SERVED else pytest.mark.long)
    for module in MODULES
    for message in messages_of(module)
]
MESSAGES = [pytest.param(message, marks=marks) for message, marks in DECLARED]
VERSIONS = [
    pytest.param(message, version, marks=marks)
    for message, marks in DECLARED
    for version in range(message.min_version, message.max_version + 1)
]


def name_of(case: object) -> str:
    return case.__name__ if isinstance(case, type) else str(case)
