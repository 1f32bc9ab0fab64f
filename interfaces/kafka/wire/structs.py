"""Struct: declared fields as a plain class with slots and a compiled constructor.

At import the metaclass only turns the fields into slots, to keep the start-up short. The
constructor is compiled at first use, as flat Python for one class: descriptors and dataclasses are
slower on the request path.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, dataclass_transform

from interfaces.kafka.wire.fields import Field
from interfaces.kafka.wire.primitives import Buffer

Pieces: TypeAlias = "list[bytes | memoryview]"
Decoder: TypeAlias = "Callable[[Buffer, int], tuple[Any, int]]"
Encoder: TypeAlias = "Callable[[Any], Pieces]"


@dataclass_transform()
class StructType(type):
    """Moves the declared fields from the class body to `fields_`, and makes them slots."""

    fields_: dict[str, Field]

    def __new__(
        mcs, name: str, bases: tuple[type, ...], body: dict[str, Any], **facts: Any
    ) -> StructType:
        fields = {key: value for key, value in body.items() if isinstance(value, Field)}
        for key in fields:
            del body[key]
        body["__slots__"] = tuple(fields)
        cls = super().__new__(mcs, name, bases, body, **facts)
        cls.fields_ = fields
        return cls


class Struct(metaclass=StructType):
    """A group of fields. Equal if the class and all fields are equal."""

    def __init__(self, *in_order: Any, **values: Any) -> None:
        init = compile_constructor(type(self))
        type.__setattr__(type(self), "__init__", init)
        init(self, *in_order, **values)

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in type(self).fields_)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in type(self).fields_)
        return f"{type(self).__name__}({shown})"


def compile_constructor(cls: StructType) -> Callable[..., None]:
    """`__init__` with all fields in order; each instance gets its own lists and structs."""
    names: dict[str, Any] = {"unset": object()}
    parameters = []
    lines = []
    for index, (name, field) in enumerate(cls.fields_.items()):
        if isinstance(field.default, (list, StructType)):
            made = "[]" if field.default == [] else f"struct{index}()"
            names[f"struct{index}"] = field.default
            parameters.append(f"{name}=unset")
            lines.append(f" self.{name} = {made} if {name} is unset else {name}")
        else:
            names[f"default{index}"] = field.default
            parameters.append(f"{name}=default{index}")
            lines.append(f" self.{name} = {name}")
    # Positional arguments take half the time of keywords, for which CPython builds a dict: use them
    # for structs of each partition.
    head = f"def __init__({', '.join(['self', *parameters])}):\n"
    exec(head + "\n".join(lines or [" pass"]), names)
    constructor: Callable[..., None] = names["__init__"]
    return constructor
