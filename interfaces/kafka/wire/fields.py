"""How a message's fields are declared: type, version range, nullable, tagged, default.

Each function below is the default of an annotated attribute in a `Struct`, and is typed as the
value, so that mypy reads `index: int = int32()` as an attribute with a default. It returns a
`Field`, which the metaclass collects.

Version ranges are in Kafka's notation: "3+", "0-12", "5". A field outside its range has its default
after decoding; encoding another value is a ValueError, unless the field is `ignorable`. A tagged
field (KIP-482) with its default is not encoded.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import calcsize
from typing import Any, Final, Protocol, TypeVar, cast

from interfaces.kafka.wire.primitives import ZERO_UUID

T = TypeVar("T")
D = TypeVar("D")
NO_LIMIT: Final = 1 << 15
NOT_ASKED: Final = -(1 << 31)  # authorized operations that the client did not request
IMPLIED: Final = cast(Any, object())  # use the default of the type

# struct's format characters of the types with a fixed size
FIXED_CODES: Final = {
    "bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "int64": "q",
    "float64": "d", "uuid": "16s",
}  # fmt: skip
FIXED_SIZES: Final = {kind: calcsize(">" + code) for kind, code in FIXED_CODES.items()}
TYPE_DEFAULTS: Final[dict[str, Any]] = {
    "bool": False, "float64": 0.0, "uuid": ZERO_UUID, "string": "", "bytes": b"",
    "record_data": b"", "array": [],
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
    """One declared field. Its ranges are parsed at the first compilation."""

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
        """Returns True if an array of them is one struct format: `>12i`."""
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
        nullable: str | None = None,
        default: D | None = ...,
        ignorable: bool = False,
        tag: int | None = None,
    ) -> D: ...


def _declare(kind: str) -> Any:
    def declare(versions: str = "0+", **facts: Any) -> Field:
        return Field(kind, versions, **facts)

    return declare


boolean: Declare[bool] = _declare("bool")
int8: Declare[int] = _declare("int8")
int16: Declare[int] = _declare("int16")
uint16: Declare[int] = _declare("uint16")
int32: Declare[int] = _declare("int32")
int64: Declare[int] = _declare("int64")
float64: Declare[float] = _declare("float64")
#: The 16 raw bytes.
uuid: Declare[bytes] = _declare("uuid")
string: Declare[str] = _declare("string")
#: Kafka's `bytes`: decoded to a copy.
octets: Declare[bytes] = _declare("bytes")
#: Kafka's `records`: decoded to a view of the buffer, encoded without a copy. The default is empty,
#: not null: librdkafka fails to parse a null in a Fetch response.
record_data: Declare[Any] = _declare("record_data")


def array(element: Callable[..., T], versions: str = "0+", **facts: Any) -> list[T]:
    """`element` is a Struct class or one of the functions above: `array(int32)`."""
    of = nested(element) if isinstance(element, type) else element()
    return cast("list[T]", Field("array", versions, element=of, **facts))


def nested(struct: Callable[..., T], versions: str = "0+", **facts: Any) -> T:
    """A struct inside a struct; its default is None if it is tagged or nullable."""
    default = None if "tag" in facts or "nullable" in facts else struct
    return cast(T, Field("struct", versions, element=struct, default=default, **facts))
