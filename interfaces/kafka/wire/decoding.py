"""Writes the decoder of one message version as one flat Python function.

    def decode(buffer, pos):
        view = memoryview(buffer); limit = len(view)
        m1 = new(ProduceRequest)
        n1, = unpack_B(view, pos); ...

Speed: adjacent fields of fixed size, and the length byte of the next field, are one `unpack_from`;
nested structs and arrays are inlined loops; objects come from `object.__new__` and get their slots
assigned, which is cheaper than a Python-level `__init__`.

Safety: fixed-size reads and `view[pos]` raise at the end of the bytes; every length is compared
with the remaining bytes before a slice or an allocation, an array's with the smallest size of its
elements. So time and memory are proportional to the bytes received. An element of two bytes becomes
an object of a hundred, so a request has a limit for the elements of all its arrays
(request.elements.max).
"""

from __future__ import annotations

from struct import calcsize, unpack_from
from struct import error as StructError

from interfaces.kafka.wire.fields import FIXED_CODES, FIXED_SIZES, Field
from interfaces.kafka.wire.primitives import (
    MalformedRequest,
    finish_uvarint,
    read_uvarint,
    skip_tagged_fields,
)
from interfaces.kafka.wire.source import Source
from interfaces.kafka.wire.structs import Decoder, StructType

#: The length has 16 bits in old versions; Kafka refuses longer strings in new ones too.
LONGEST_STRING = 0x7FFF


def least_size(field: Field, version: int, flexible: bool) -> int:
    """The fewest bytes of this field; bounds the length of an array."""
    if field.kind in FIXED_SIZES:
        return FIXED_SIZES[field.kind]
    if field.kind == "struct":
        if field.is_nullable_in(version):
            return 1
        inner = (each for each in field.element.fields_.values() if each.is_in(version))
        sizes = (least_size(each, version, flexible) for each in inner if each.tag is None)
        return sum(sizes) + flexible
    return 1 if flexible else FIXED_SIZES[length_kind(field)]


def length_kind(field: Field) -> str:
    """The type of the length in inflexible versions."""
    return "int16" if field.kind == "string" else "int32"


class DecoderWriter:
    """Collects fixed-size reads in `codes` and `targets` until another kind of field follows."""

    def __init__(self, version: int, max_elements: int | None, *, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.max_elements = max_elements
        self.codes = ""
        self.targets: list[str] = []
        self.source = Source(
            new=object.__new__,
            Malformed=MalformedRequest,
            ended=(StructError, IndexError),
            finish_uvarint=finish_uvarint,
            read_uvarint=read_uvarint,
            skip_tagged_fields=skip_tagged_fields,
            unpack_from=unpack_from,
        )

    def write(self, message: StructType) -> Decoder:
        source = self.source
        with source.block("def decode(buffer, pos=0):"):
            source.line("view = buffer if type(buffer) is memoryview else memoryview(buffer)")
            source.line("limit = len(view)")
            if self.max_elements is not None:
                source.line(f"room = {self.max_elements}")
            with source.block("try:"):
                made = self.struct(message)
                self.flush()
                source.line(f"return {made}, pos")
            with source.block("except ended as error:"):
                source.line("raise Malformed('the bytes end inside a field') from error")
            with source.block("except UnicodeDecodeError as error:"):
                source.line("raise Malformed('a string is not UTF-8') from error")
        return source.compile("decode", f"{message.__name__} v{self.version} decoder")

    def fixed(self, code: str, target: str) -> None:
        self.codes += code
        self.targets.append(target)

    def flush(self) -> None:
        if not self.codes:
            return
        if self.codes == "B":
            self.source.line(f"{self.targets[0]} = view[pos]")
        else:
            unpack = self.source.unpacker(self.codes)
            self.source.line(f"{', '.join(self.targets)}, = {unpack}(view, pos)")
        self.source.line(f"pos += {calcsize('>' + self.codes)}")
        self.codes, self.targets = "", []

    def refuse_if(self, condition: str, reason: str) -> None:
        with self.source.block(f"if {condition}:"):
            self.source.line(f"raise Malformed({reason!r})")

    # -- structs -----------------------------------------------------------------------

    def struct(self, cls: StructType) -> str:
        """Writes the code for one struct, except pending reads; returns its variable."""
        made = self.source.fresh("m")
        self.source.line(f"{made} = new({self.source.bind(cls.__name__, cls)})")
        tagged = {}
        for name, field in cls.fields_.items():
            target = f"{made}.{name}"
            if not field.is_in(self.version):
                self.default(field, target)
            elif field.tag is not None:
                self.default(field, target)
                tagged[name] = field
            else:
                self.field(field, target, name)
        if self.flexible:
            self.tagged_section(made, tagged)
        return made

    def default(self, field: Field, target: str) -> None:
        default = field.default
        if isinstance(default, StructType):
            value = f"{self.source.bind(default.__name__, default)}()"
        else:
            value = repr(default)
        self.source.line(f"{target} = {value}")

    def tagged_section(self, made: str, tagged: dict[str, Field]) -> None:
        count = self.source.fresh("t")
        self.fixed("B", count)
        self.flush()
        with self.source.block(f"if {count}:"):
            if tagged:
                self.tagged_fields(made, tagged, count)
            else:
                self.source.line(f"pos = skip_tagged_fields(view, pos, {count})")

    def tagged_fields(self, made: str, tagged: dict[str, Field], count: str) -> None:
        source = self.source
        tag, size, end = source.fresh("tag"), source.fresh("size"), source.fresh("end")
        with source.block(f"if {count} > 127:"):
            source.line(f"{count}, pos = finish_uvarint(view, pos, {count})")
        self.refuse_if(f"{count} * 2 > limit - pos", "more tagged fields than bytes left")
        with source.block(f"for _ in range({count}):"):
            source.line(f"{tag}, pos = read_uvarint(view, pos)")
            source.line(f"{size}, pos = read_uvarint(view, pos)")
            source.line(f"{end} = pos + {size}")
            self.refuse_if(f"{end} > limit", "a tagged field is longer than what is left")
            branch = "if"
            for name, field in tagged.items():
                with source.block(f"{branch} {tag} == {field.tag}:"):
                    self.field(field, f"{made}.{name}", name)
                    self.flush()
                    self.refuse_if(f"pos != {end}", f"{name} is not as long as its tag says")
                branch = "elif"
            with source.block("else:"):
                source.line(f"pos = {end}")

    # -- fields ------------------------------------------------------------------------

    def field(self, field: Field, target: str, name: str) -> None:
        if field.kind in FIXED_CODES:
            self.fixed(FIXED_CODES[field.kind], target)
        elif field.kind == "struct":
            self.nested(field, target)
        else:
            self.sized(field, target, name)

    def nested(self, field: Field, target: str) -> None:
        if not field.is_nullable_in(self.version):
            made = self.struct(field.element)
            self.source.line(f"{target} = {made}")
            return
        present = self.source.fresh("n")
        self.fixed("b", present)
        self.flush()
        with self.source.block(f"if {present} < 0:"):
            self.source.line(f"{target} = None")
        with self.source.block("else:"):
            made = self.struct(field.element)
            self.flush()
            self.source.line(f"{target} = {made}")

    def sized(self, field: Field, target: str, name: str) -> None:
        """Strings, bytes, records and arrays, which begin with a length that may mean null."""
        source = self.source
        size = source.fresh("n")
        if self.flexible:
            self.fixed("B", size)
            self.flush()
            with source.block(f"if {size} > 127:"):
                source.line(f"{size}, pos = finish_uvarint(view, pos, {size})")
                if field.kind == "string":
                    self.refuse_if(f"{size} > {LONGEST_STRING + 1}", f"{name} is too long")
            is_null, count = f"not {size}", f"{size} - 1"
        else:
            self.fixed(FIXED_CODES[length_kind(field)], size)
            self.flush()
            is_null, count = f"{size} < 0", size
        if not field.is_nullable_in(self.version):
            self.refuse_if(is_null, f"{name} is null")
            self.content(field, target, count)
            return
        with source.block(f"if {is_null}:"):
            source.line(f"{target} = None")
        with source.block("else:"):
            self.content(field, target, count)
            self.flush()

    def content(self, field: Field, target: str, count: str) -> None:
        if field.kind == "array":
            self.array(field, target, count)
            return
        end = self.source.fresh("end")
        self.source.line(f"{end} = pos + {count}")
        self.refuse_if(f"{end} > limit", "a length is more than what is left")
        piece = f"view[pos:{end}]"
        made = {"string": f"{piece}.tobytes().decode()", "bytes": f"{piece}.tobytes()"}
        self.source.line(f"{target} = {made.get(field.kind, piece)}")
        self.source.line(f"pos = {end}")

    def array(self, field: Field, target: str, count: str) -> None:
        source = self.source
        element: Field = field.element
        least = max(1, least_size(element, self.version, self.flexible))
        self.refuse_if(f"({count}) * {least} > limit - pos", "more elements than bytes left")
        if self.max_elements is not None:
            source.line(f"room -= ({count})")
            words = f"more than {self.max_elements} elements in one request (request.elements.max)"
            self.refuse_if("room < 0", words)
        if element.is_number:
            self.array_of_numbers(element, target, count, least)
            return
        items = source.fresh("a")
        source.line(f"{target} = {items} = []")
        with source.block(f"for _ in range({count}):"):
            if element.kind == "struct":
                item = self.struct(element.element)
            else:
                item = source.fresh("v")
                self.field(element, item, "an element")
            self.flush()
            source.line(f"{items}.append({item})")

    def array_of_numbers(self, element: Field, target: str, count: str, size: int) -> None:
        number, code = self.source.fresh("c"), FIXED_CODES[element.kind]
        self.source.line(f"{number} = {count}")
        self.source.line(f"{target} = [*unpack_from(f'>{{{number}}}{code}', view, pos)]")
        self.source.line(f"pos += {number} * {size}")
