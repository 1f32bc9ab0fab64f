"""Writes the encoder of one message version as one flat Python function.

    def encode(m1):
        out = []; pieces = []
        out.append(pack_ihB(m2.index, m2.error_code, 0)) ...

Adjacent fields of fixed size (with lengths and empty tagged sections between them) are one `pack`;
nested structs and arrays are inlined loops. Small pieces are joined once at the end. Records and
bytes from OWN_PIECE on are not copied: copying a megabyte costs more than the whole encoding.
"""

from __future__ import annotations

from struct import pack
from typing import Final

from interfaces.kafka.wire.fields import FIXED_CODES, Field
from interfaces.kafka.wire.primitives import ONE_BYTE, write_uvarint
from interfaces.kafka.wire.source import Source
from interfaces.kafka.wire.structs import Encoder, StructType

OWN_PIECE: Final = 4096


def unlike_default(field: Field, value: str) -> str:
    """The condition that `value` differs from the field's default."""
    if isinstance(field.default, StructType):
        return f"{value} != {field.default.__name__}()"
    if field.default is None and field.kind == "struct":
        return f"{value} is not None and {value} != {field.element.__name__}()"
    if field.default is None:
        return f"{value} is not None"
    if field.default == [] and field.nullable is None:
        return value
    return f"{value} != {field.default!r}"


class EncoderWriter:
    """Collects fixed-size values in `codes` and `values` until another kind of field follows."""

    def __init__(self, version: int, *, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.in_tagged_field = False
        self.codes = ""
        self.values: list[str] = []
        self.source = Source(
            one_byte=ONE_BYTE, write_uvarint=write_uvarint, join=b"".join, pack=pack
        )

    def write(self, message: StructType) -> Encoder:
        source = self.source
        with source.block("def encode(message):"):
            source.line("out = []")
            source.line("pieces = []")
            self.struct(message, "message")
            self.flush()
            with source.block("if out:"):
                source.line("pieces.append(join(out))")
            source.line("return pieces")
        return source.compile("encode", f"{message.__name__} v{self.version} encoder")

    def fixed(self, code: str, value: str = "") -> None:
        self.codes += code
        if value:
            self.values.append(value)

    def flush(self) -> None:
        self.write_fixed(self.codes, self.values)
        self.codes, self.values = "", []

    def write_fixed(self, codes: str, values: list[str]) -> None:
        if not codes:
            return
        if values:
            self.append(f"{self.source.packer(codes)}({', '.join(values)})")
        else:
            self.append(repr(bytes(len(codes))))

    def append(self, piece: str) -> None:
        self.source.line(f"out.append({piece})")

    # -- structs -----------------------------------------------------------------------

    def struct(self, cls: StructType, made: str) -> None:
        """Writes the code for one struct, except pending fixed-size values."""
        tagged = {}
        for name, field in cls.fields_.items():
            value = f"{made}.{name}"
            if not field.is_in(self.version):
                self.absent(field, name, value)
            elif field.tag is not None:
                tagged[name] = field
            else:
                self.field(field, value)
        if tagged:
            self.tagged_section(tagged, made)
        elif self.flexible:
            self.fixed("x")

    def absent(self, field: Field, name: str, value: str) -> None:
        if field.ignorable:
            return
        self.bind_default(field)
        with self.source.block(f"if {unlike_default(field, value)}:"):
            reason = f"{name} does not exist in version {self.version}"
            self.source.line(f"raise ValueError({reason!r})")

    def bind_default(self, field: Field) -> None:
        if field.kind == "struct":
            self.source.bind(field.element.__name__, field.element)

    def tagged_section(self, tagged: dict[str, Field], made: str) -> None:
        """Usually all fields have their defaults: then the section is a zero byte in the last
        pack.
        """
        source = self.source
        codes, values = self.codes, self.values
        self.codes, self.values = "", []
        conditions = {}
        for name, field in sorted(tagged.items(), key=lambda item: item[1].tag or 0):
            self.bind_default(field)
            conditions[name] = source.fresh("t")
            source.line(f"{conditions[name]} = {unlike_default(field, f'{made}.{name}')}")
        with source.block(f"if {' or '.join(conditions.values())}:"):
            self.write_fixed(codes, values)
            numbers = [f"(1 if {condition} else 0)" for condition in conditions.values()]
            self.append(f"write_uvarint({' + '.join(numbers)})")
            for name, condition in conditions.items():
                with source.block(f"if {condition}:"):
                    self.tagged_field(tagged[name], f"{made}.{name}")
        with source.block("else:"):
            self.write_fixed(codes + "x", values)

    def tagged_field(self, field: Field, value: str) -> None:
        source = self.source
        outer, content = source.fresh("outer"), source.fresh("content")
        source.line(f"{outer} = out")
        source.line("out = []")
        was_inside, self.in_tagged_field = self.in_tagged_field, True
        self.field(field, value)
        self.flush()
        self.in_tagged_field = was_inside
        source.line(f"{content} = join(out)")
        source.line(f"out = {outer}")
        self.append(f"write_uvarint({field.tag}) + write_uvarint(len({content}))")
        self.append(content)

    # -- fields ------------------------------------------------------------------------

    def field(self, field: Field, value: str) -> None:
        if field.kind in FIXED_CODES:
            self.fixed(FIXED_CODES[field.kind], value)
        elif field.kind == "struct":
            self.nested(field, value)
        else:
            self.sized(field, value)

    def nested(self, field: Field, value: str) -> None:
        item = self.source.fresh("m")
        self.source.line(f"{item} = {value}")
        if not field.is_nullable_in(self.version):
            self.struct(field.element, item)
            return
        self.flush()
        with self.source.block(f"if {item} is None:"):
            self.append(r"b'\xff'")
        with self.source.block("else:"):
            self.fixed("b", "1")
            self.struct(field.element, item)
            self.flush()

    def sized(self, field: Field, value: str) -> None:
        """Strings, bytes, records and arrays, which begin with a length."""
        source = self.source
        item, size = source.fresh("v"), source.fresh("n")
        source.line(f"{item} = {value}")
        if not field.is_nullable_in(self.version):
            self.measure(field, item, size)
            if field.kind == "array" and field.element.is_number:
                self.array_of_numbers(field, item, size)
                return
            self.length(field, size)
            self.content(field, item, size)
            return
        with source.block(f"if {item} is None:"):
            source.line(f"{size} = -1")
        with source.block("else:"):
            self.measure(field, item, size)
        self.length(field, size)
        self.flush()
        with source.block(f"if {size} > 0:"):
            self.content(field, item, size)
            self.flush()

    def measure(self, field: Field, item: str, size: str) -> None:
        if field.kind == "string":
            self.source.line(f"{item} = {item}.encode()")
        self.source.line(f"{size} = len({item})")

    def length(self, field: Field, size: str) -> None:
        if not self.flexible:
            self.fixed("h" if field.kind == "string" else "i", size)
            return
        long = self.packed_before(f"write_uvarint({size} + 1)")
        self.append(f"{self.short_length(f'{size} + 1')} if {size} < 127 else {long}")
        self.codes, self.values = "", []

    def short_length(self, number: str) -> str:
        """The pending values and a varint of one byte."""
        return self.pack_with("B", number) if self.codes else f"one_byte[{number}]"

    def pack_with(self, codes: str, *values: str) -> str:
        """The pack of the pending values and more."""
        packer = self.source.packer(self.codes + codes)
        return f"{packer}({', '.join([*self.values, *values])})"

    def packed_before(self, piece: str) -> str:
        return f"{self.pack_with('')} + {piece}" if self.codes else piece

    def content(self, field: Field, item: str, size: str) -> None:
        self.flush()
        if field.kind == "array":
            self.array(field, item)
        elif field.kind == "string" or self.in_tagged_field:
            self.append(item)
        else:
            self.large(item, size)

    def large(self, item: str, size: str) -> None:
        with self.source.block(f"if {size} < {OWN_PIECE}:"):
            self.append(item)
        with self.source.block("else:"):
            self.source.line(f"pieces += (join(out), {item})")
            self.source.line("out = []")

    def array(self, field: Field, item: str) -> None:
        source = self.source
        element: Field = field.element
        each = source.fresh("m")
        with source.block(f"for {each} in {item}:"):
            if element.kind == "struct":
                self.struct(element.element, each)
            else:
                self.field(element, each)
            self.flush()

    def array_of_numbers(self, field: Field, item: str, size: str) -> None:
        """Length and numbers join the pack of the pending values: most arrays have 0 or 1
        elements.
        """
        source = self.source
        code = FIXED_CODES[field.element.kind]
        length_code, length = ("B", f"{size} + 1") if self.flexible else ("i", size)
        with source.block(f"if {size} == 1:"):
            self.append(self.pack_with(length_code + code, length, f"{item}[0]"))
        with source.block(f"elif not {size}:"):
            self.append(self.short_length("1") if self.flexible else self.pack_with("i", "0"))
        with source.block(f"elif {size} < 127:"):
            format = f"'>{self.codes}{length_code}{{{size}}}{code}'"
            self.append(f"pack(f{format}, {', '.join([*self.values, length])}, *{item})")
        with source.block("else:"):
            long = f"write_uvarint({length})" if self.flexible else f"pack_i({length})"
            source.packer("i")
            self.append(self.packed_before(f"{long} + pack(f'>{{{size}}}{code}', *{item})"))
        self.codes, self.values = "", []
