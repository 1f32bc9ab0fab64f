"""The response to a request that failed as a whole, derived from the declarations of its messages.

The error stands where the version has room for it: at the top of the response, or in each element
of the array that mirrors what the request asks for (of topics, then of partitions; of groups).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interfaces.kafka.wire.fields import Field
from interfaces.kafka.wire.schema import Message, Response
from interfaces.kafka.wire.structs import StructType

#: (request, code, message) -> response
Failed = Callable[[Any, int, str | None], Response]

#: What an element of a request is about, and is repeated in the response.
_NAMES = (
    *("name", "topic", "topic_id", "index", "partition", "partition_index", "group_id"),
    *("resource_type", "resource_name"),
)


def failed_response(
    request: type[Message], response: type[Message], version: int, values: Mapping[str, Any]
) -> Failed:
    """`values`: fields that are not at their defaults where an error is, or what makes them."""

    def failed(asked: Any, code: int, message: str | None) -> Any:
        return _struct(asked, request, response, Failure(version, code, message, values))

    return failed


class Failure:
    __slots__ = ("code", "message", "values", "version")

    def __init__(
        self, version: int, code: int, message: str | None, values: Mapping[str, Any]
    ) -> None:
        self.version = version
        self.code = code
        self.message = message
        self.values = values

    def fields(self, struct: StructType) -> dict[str, Field]:
        return {name: one for name, one in struct.fields_.items() if one.is_in(self.version)}

    def put(self, asked: Any, answer: Any, fields: dict[str, Field]) -> None:
        answer.error_code = self.code
        for name, value in {"error_message": self.message, **self.values}.items():
            if callable(value):
                value = value(asked)
            field = fields.get(name)
            if field is not None and (value is not None or field.is_nullable_in(self.version)):
                setattr(answer, name, value)


def _struct(asked: Any, request: StructType, response: StructType, failure: Failure) -> Any:
    answer: Any = response()
    fields = failure.fields(response)
    if "error_code" in fields:
        failure.put(asked, answer, fields)
        return answer
    name = next(name for name, field in fields.items() if _has_errors(field, failure))
    arrays = [
        (name, field) for name, field in failure.fields(request).items() if field.kind == "array"
    ]
    asked_name, array = next((one for one in arrays if one[0] == name), arrays[0])
    made: StructType = fields[name].element.element
    elements = getattr(asked, asked_name) or ()
    setattr(answer, name, [_element(one, array.element, made, failure) for one in elements])
    return answer


def _has_errors(field: Field, failure: Failure) -> bool:
    if field.kind != "array" or field.element.kind != "struct":
        return False
    inner = failure.fields(field.element.element)
    return "error_code" in inner or any(_has_errors(one, failure) for one in inner.values())


def _element(asked: Any, declared: Field, made: StructType, failure: Failure) -> Any:
    fields = failure.fields(made)
    if declared.kind != "struct":
        answer = _struct(asked, made, made, failure)
        kinds = {name: one.kind for name, one in fields.items() if not name.startswith("error_")}
        name = next(name for name, kind in kinds.items() if kind == declared.kind)
        setattr(answer, name, asked)
        return answer
    answer = _struct(asked, declared.element, made, failure)
    for name in failure.fields(declared.element):
        # Fetch asks for a partition and answers with its index.
        named = name if name in fields else f"{name}_index"
        if name in _NAMES and named in fields:
            setattr(answer, named, getattr(asked, name))
    return answer
