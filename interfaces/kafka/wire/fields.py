"""How a message's fields are declared: type, version range, nullable, tagged, default.

Each function below stands on the right of an annotated attribute in a `Struct`'s body and is
typed as the value it stands for, so that mypy reads `index: int = int32()` as an attribute with
a default. What it really returns is a `Field`, which the metaclass collects.

Version ranges are Kafka's own notation: "3+", "0-12", "5". A field outside its range has its
default after decoding. Encoding any other value there is a ValueError, unless the field is
`ignorable`. A tagged field (KIP-482) is left out on the wire while it has its default.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar, cast

from interfaces.kafka.wire.primitives import ZERO_UUID, Buffer

T = TypeVar("T")
D = TypeVar("D")
NO_LIMIT: Final = 1 << 15
NOT_ASKED: Final = -(1 << 31)  # authorized operations, when the client did not ask for them
IMPLIED: Final = cast(Any, object())  # no default given: the type's own

# struct's format characters of the types with a fixed size
FIXED_CODES: Final = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q",
    "float64": "d", "uuid": "16s",
}  # fmt: skip
FIXED_SIZES: Final = {
    "bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "float64": 8,
    "uuid": 16,
}  # fmt: skip
TYPE_DEFAULTS: Final[dict[str, Any]] = {
    "bool": False, "float64": 0.0, "uuid": ZERO_UUID, "string": "", "bytes": b"",
    "record_data": b"",
}  # fmt: skip


def parse_versions(versions: str | None) -> tuple[int, int]:
    """First and last version of a range; (1, 0), an empty one, for None."""
    if versions is None:
        return 1, 0
    if versions.endswith("+"):
        return int(versions[:-1]), NO_LIMIT
    first, _, last = versions.partition("-")
    return int(first), int(last or first)


class Field:
    """One declared field. Ranges stay text until the first compilation asks for them."""

    __slots__ = ("default", "element", "ignorable", "kind", "nullable", "tag", "versions")

    def __init__(
        self,
        kind: str,
        versions: str,
        *,
        nullable: str | None = None,
        default: Any = IMPLIED,
        ignorable: bool = False,
        tag: int | None = None,
        element: Any = None,
    ) -> None:
        self.kind = kind
        self.versions = versions
        self.nullable = nullable
        self.ignorable = ignorable
        self.tag = tag
        self.element = element  # of an array: a Field; of a struct: its class
        self.default = TYPE_DEFAULTS.get(kind, 0) if default is IMPLIED else default

    @property
    def is_number(self) -> bool:
        """Whether many of them are one struct format: `>12i`."""
        return self.kind in FIXED_CODES and self.kind != "uuid"

    def is_in(self, version: int) -> bool:
        first, last = parse_versions(self.versions)
        return first <= version <= last

    def is_nullable_in(self, version: int) -> bool:
        first, last = parse_versions(self.nullable)
        return first <= version <= last


class Declare(Protocol[D]):
    def __call__(
        self,
        versions: str = "0+",
        *,
        default: D = ...,
        ignorable: bool = False,
        tag: int | None = None,
    ) -> D: ...


def _fixed(kind: str) -> Any:
    def declare(
        versions: str = "0+",
        *,
        default: Any = IMPLIED,
        ignorable: bool = False,
        tag: int | None = None,
    ) -> Any:
        return Field(kind, versions, default=default, ignorable=ignorable, tag=tag)

    return declare


boolean: Declare[bool] = _fixed("bool")
int8: Declare[int] = _fixed("int8")
int16: Declare[int] = _fixed("int16")
int32: Declare[int] = _fixed("int32")
int64: Declare[int] = _fixed("int64")
float64: Declare[float] = _fixed("float64")
#: The 16 raw bytes.
uuid: Declare[bytes] = _fixed("uuid")


def string(
    versions: str = "0+",
    *,
    nullable: str | None = None,
    default: str | None = "",
    ignorable: bool = False,
    tag: int | None = None,
) -> str:
    field = Field(
        "string", versions, nullable=nullable, default=default, ignorable=ignorable, tag=tag
    )
    return cast(str, field)


def octets(
    versions: str = "0+",
    *,
    nullable: str | None = None,
    default: bytes | None = b"",
    ignorable: bool = False,
    tag: int | None = None,
) -> bytes:
    """Kafka's `bytes`: decoded to a copy."""
    field = Field(
        "bytes", versions, nullable=nullable, default=default, ignorable=ignorable, tag=tag
    )
    return cast(bytes, field)


def record_data(
    versions: str = "0+", *, nullable: str | None = None, ignorable: bool = False
) -> Any:
    """Kafka's `records`: decoded to a view of the buffer, encoded without a copy.

    Empty, not null, when nobody sets it: librdkafka refuses a null in a Fetch response.
    """
    field = Field("record_data", versions, nullable=nullable, ignorable=ignorable)
    return cast(Buffer, field)


def array(
    element: Callable[..., T],
    versions: str = "0+",
    *,
    nullable: str | None = None,
    default: None = IMPLIED,
    ignorable: bool = False,
    tag: int | None = None,
) -> list[T]:
    """`element` is a Struct class, or one of the functions above: `array(int32)`."""
    field = Field(
        "array", versions, nullable=nullable, ignorable=ignorable, tag=tag,
        default=default, element=nested(element) if isinstance(element, type) else element(),
    )  # fmt: skip
    if default is IMPLIED:
        field.default = []
    return cast("list[T]", field)


def nested(
    struct: Callable[..., T],
    versions: str = "0+",
    *,
    nullable: str | None = None,
    default: None = IMPLIED,
    ignorable: bool = False,
    tag: int | None = None,
) -> T:
    """A struct inside a struct. One that is tagged or nullable is None until somebody sets it."""
    field = Field(
        "struct", versions, nullable=nullable, ignorable=ignorable, tag=tag, element=struct
    )
    optional = tag is not None or nullable is not None
    field.default = None if optional else struct
    return cast(T, field)
