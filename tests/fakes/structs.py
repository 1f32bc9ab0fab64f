"""Messages of nested dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeVar

from interfaces.kafka.wire.fields import Field
from interfaces.kafka.wire.schema import Request
from interfaces.kafka.wire.structs import Struct

S = TypeVar("S", bound=Struct)
Fields = Mapping[str, Any]


def build(kind: type[S], fields: Fields) -> S:
    """Dictionaries become structs, at any depth."""
    return kind(**{name: _value(kind.fields_[name], value) for name, value in fields.items()})


def request_for(api: str, **fields: Any) -> Request:
    """`api` as in interfaces/kafka/requests/apis.py."""
    messages = import_module(f"interfaces.kafka.wire.messages.{api}")
    title = "".join(map(str.capitalize, api.split("_")))
    kind: type[Request] = getattr(messages, f"{title}Request")
    return build(kind, fields)


def _value(field: Field, value: Any) -> Any:
    if isinstance(value, list):
        return [_value(field.element, one) for one in value]
    return build(field.element, value) if isinstance(value, dict) else value
