"""The response to a request that failed as a whole, derived from the declarations of its messages.

The error goes where the version has a field for it: at the top level of the response, or into each
element of the array that mirrors the request (topics and their partitions, or groups).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from interfaces.kafka.wire.fields import Field
from interfaces.kafka.wire.schema import Message, Response
from interfaces.kafka.wire.structs import StructType

#: (request, code, message) -> response
Failed = Callable[[Any, int, str | None], Response]

#: Fields that identify an element of a request, and are copied into the response.
_NAMES = (
    *("name", "topic", "topic_id", "index", "partition", "partition_index", "group_id"),
    *("producer_id",),
    *("resource_type", "resource_name"),
)


def failed_response(
    request: type[Message],
    response: type[Message],
    version: int,
    values: Mapping[str, Any],
    in_elements: bool = False,
) -> Failed:
    """`values`: fields beside the error that differ from their defaults, or functions for them.

    `in_elements`: the error of each element, also where the response has one at its top level.
    """

    def failed(requested: Any, code: int, message: str | None) -> Any:
        put = {"error_code": code, "error_message": message, **values}
        return _Failure(version, put).struct(requested, request, response, in_elements)

    return failed


class _Failure:
    def __init__(self, version: int, values: Mapping[str, Any]) -> None:
        self._version = version
        self._values = values

    def struct(
        self, requested: Any, request: StructType, response: StructType, in_elements: bool = False
    ) -> Any:
        result: Any = response()
        fields = self._fields(response)
        is_deeper = in_elements and any(map(self._has_errors, fields.values()))
        if "error_code" in fields and not is_deeper:
            self._put(requested, result, fields)
            return result
        name = next(name for name, field in fields.items() if self._has_errors(field))
        arrays = [one for one in self._fields(request).items() if one[1].kind == "array"]
        array_name, array = next((one for one in arrays if one[0] == name), arrays[0])
        made: StructType = fields[name].element.element
        elements = getattr(requested, array_name) or ()
        setattr(result, name, [self._element(one, array.element, made) for one in elements])
        return result

    def _fields(self, struct: StructType) -> dict[str, Field]:
        return {name: one for name, one in struct.fields_.items() if one.is_in(self._version)}

    def _put(self, requested: Any, result: Any, fields: dict[str, Field]) -> None:
        for name, value in self._values.items():
            if callable(value):
                value = value(requested)
            field = fields.get(name)
            if field is not None and (value is not None or field.is_nullable_in(self._version)):
                setattr(result, name, value)

    def _has_errors(self, field: Field) -> bool:
        if field.kind != "array" or field.element.kind != "struct":
            return False
        inner = self._fields(field.element.element)
        return "error_code" in inner or any(map(self._has_errors, inner.values()))

    def _element(self, requested: Any, declared: Field, made: StructType) -> Any:
        fields = self._fields(made)
        if declared.kind != "struct":
            result = self.struct(requested, made, made)
            kinds = {name: f.kind for name, f in fields.items() if not name.startswith("error_")}
            name = next(name for name, kind in kinds.items() if kind == declared.kind)
            setattr(result, name, requested)
            return result
        result = self.struct(requested, declared.element, made)
        for name in self._fields(declared.element):
            # Fetch has `partition` in the request and `partition_index` in the response.
            named = name if name in fields else f"{name}_index"
            if name in _NAMES and named in fields:
                setattr(result, named, getattr(requested, name))
        return result
