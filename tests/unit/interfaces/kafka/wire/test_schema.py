"""Bytes here are written by hand, from the protocol guide and KIP-482."""

from __future__ import annotations

import pytest

from interfaces.kafka.wire.primitives import Buffer, MalformedRequest
from interfaces.kafka.wire.schema import (
    Request,
    Struct,
    array,
    boolean,
    decoder,
    encoder,
    float64,
    int8,
    int16,
    int32,
    int64,
    nested,
    octets,
    record_data,
    string,
    uuid,
)

ID = bytes(range(16))


class Numbers(Request, versions="0"):
    a: bool = boolean()
    b: int = int8()
    c: int = int16()
    d: int = int32()
    e: int = int64(default=-1)
    f: float = float64()
    g: bytes = uuid()


class Texts(Request, versions="0-1", flexible="1+"):
    """Version 0 has lengths of fixed size, version 1 varints and tagged fields."""

    name: str = string()
    note: str | None = string(nullable="0+", default=None)
    blob: bytes = octets()
    records: Buffer | None = record_data(nullable="0+")


class Point(Struct):
    x: int = int8()
    y: int = int8("1+", default=7)


class Arrays(Request, versions="0-1", flexible="1+"):
    numbers: list[int] = array(int16)
    maybe: list[int] | None = array(int32, nullable="0+")
    names: list[str] = array(string)
    points: list[Point] = array(Point)


class Nested(Request, versions="0-1", flexible="1+"):
    here: Point = nested(Point)
    maybe: Point | None = nested(Point, nullable="0+")


class Tagged(Request, versions="0-1", flexible="0+"):
    before: int = int8()
    small: int = int16(tag=0)
    point: Point | None = nested(Point, tag=1)
    names: list[str] = array(string, "1+", tag=2)
    after: int = int8()


class Evolving(Request, versions="0-4"):
    always: int = int8()
    added: int = int8("2+", default=5)
    hinted: int = int8("3+", default=6, ignorable=True)
    removed: str | None = string("0-1", nullable="1")
    listed: list[int] = array(int8, "4+")


class Empty(Request, versions="0-1", flexible="1+"):
    pass


def encoded(message: Request, version: int) -> bytes:
    return b"".join(message.encode(version))


def both_ways(message: Request, version: int, wire: bytes) -> None:
    assert encoded(message, version) == wire
    assert type(message).decode(version, b"?" + wire + b"?", 1) == (message, 1 + len(wire))


# -- what is on the wire -----------------------------------------------------------------


def test_numbers_are_big_endian() -> None:
    numbers = Numbers(a=True, b=-2, c=0x0102, d=-1, e=3, f=1.0, g=ID)
    wire = b"\x01\xfe\x01\x02" + b"\xff" * 4 + bytes(7) + b"\x03\x3f\xf0" + bytes(6) + ID
    both_ways(numbers, 0, wire)


def test_any_byte_but_zero_is_true() -> None:
    numbers, _ = Numbers.decode(0, b"\x05" + bytes(39))
    assert numbers.a is True


def test_lengths_are_fixed_numbers_before_the_flexible_version() -> None:
    texts = Texts(name="hé", note=None, blob=b"xy", records=None)
    both_ways(texts, 0, b"\x00\x03h\xc3\xa9\xff\xff\x00\x00\x00\x02xy\xff\xff\xff\xff")


def test_lengths_are_varints_plus_one_from_the_flexible_version_on() -> None:
    texts = Texts(name="hé", note=None, blob=b"xy", records=None)
    both_ways(texts, 1, b"\x04h\xc3\xa9\x00\x03xy\x00\x00")


@pytest.mark.parametrize("size", [126, 127, 128, 16382, 16383, 16384])
@pytest.mark.parametrize("version", [0, 1])
def test_lengths_around_the_limits_of_a_varint_byte(size: int, version: int) -> None:
    texts = Texts(name="n" * size, note="o" * size, blob=b"b" * size, records=b"r" * size)
    assert Texts.decode(version, encoded(texts, version))[0] == texts
    arrays = Arrays(numbers=[1] * size, maybe=[2] * size, names=["z"] * size, points=[])
    assert Arrays.decode(version, encoded(arrays, version))[0] == arrays


def test_arrays_of_everything() -> None:
    arrays = Arrays(numbers=[1, -1], maybe=[], names=["a", ""], points=[Point(x=1), Point(x=2)])
    wire = (
        b"\x00\x00\x00\x02\x00\x01\xff\xff" + b"\x00\x00\x00\x00"
        b"\x00\x00\x00\x02\x00\x01a\x00\x00" + b"\x00\x00\x00\x02\x01\x02"
    )
    both_ways(arrays, 0, wire)


def test_compact_arrays_and_the_empty_tagged_section_of_each_struct() -> None:
    arrays = Arrays(numbers=[], maybe=None, names=["a"], points=[Point(x=1, y=2)])
    both_ways(arrays, 1, b"\x01\x00\x02\x02a\x02\x01\x02\x00\x00")


def test_a_nullable_struct_has_a_byte_before_it() -> None:
    both_ways(Nested(here=Point(x=1), maybe=None), 0, b"\x01\xff")
    both_ways(Nested(here=Point(x=1), maybe=Point(x=2)), 0, b"\x01\x01\x02")
    both_ways(Nested(here=Point(x=1, y=9), maybe=None), 1, b"\x01\x09\x00\xff\x00")


def test_tagged_fields_with_their_defaults_are_left_out() -> None:
    both_ways(Tagged(before=1, after=2), 1, b"\x01\x02\x00")
    assert encoded(Tagged(point=Point()), 1) == b"\x00\x00\x00"


def test_tagged_fields_come_last_with_tag_and_size() -> None:
    tagged = Tagged(before=1, small=3, point=Point(x=4, y=5), names=["a"], after=2)
    wire = b"\x01\x02\x03" + b"\x00\x02\x00\x03" + b"\x01\x03\x04\x05\x00" + b"\x02\x03\x02\x02a"
    both_ways(tagged, 1, wire)


def test_tagged_fields_may_come_in_any_order() -> None:
    tagged, _ = Tagged.decode(1, b"\x00\x00\x02" + b"\x01\x03\x04\x05\x00" + b"\x00\x02\x00\x03")
    assert tagged == Tagged(small=3, point=Point(x=4, y=5))


def test_unknown_tagged_fields_are_skipped() -> None:
    with_names_of_a_newer_version = b"\x00\x00\x02" + b"\x02\x03\x02\x02a" + b"\x63\x01!"
    tagged, end = Tagged.decode(0, with_names_of_a_newer_version)
    assert (tagged, end) == (Tagged(), len(with_names_of_a_newer_version))
    arrays, _ = Arrays.decode(1, b"\x01\x00\x01\x02\x01\x02\x01\x63\x01!\x01\x64\x00")
    assert arrays == Arrays(maybe=None, points=[Point(x=1, y=2)])


def test_a_message_without_fields() -> None:
    both_ways(Empty(), 0, b"")
    both_ways(Empty(), 1, b"\x00")


# -- records ---------------------------------------------------------------------------


def test_records_are_views_of_the_buffer() -> None:
    buffer = bytearray(encoded(Texts(records=b"records"), 1))
    texts, _ = Texts.decode(1, memoryview(buffer))
    assert isinstance(texts.records, memoryview)
    buffer[buffer.index(b"records")] = ord("R")
    assert bytes(texts.records) == b"Records"


def test_large_records_are_a_piece_of_their_own_and_not_copied() -> None:
    records = memoryview(bytes(100_000))
    pieces = Texts(name="a", records=records).encode(1)
    assert [len(piece) for piece in pieces] == [7, 100_000, 1]
    assert pieces[1] is records


def test_small_records_are_joined_with_the_rest() -> None:
    assert len(Texts(records=bytes(100)).encode(1)) == 1


# -- versions --------------------------------------------------------------------------


def test_a_field_that_the_version_lacks_decodes_to_its_default() -> None:
    message, _ = Evolving.decode(0, b"\x01\x00\x00")
    assert message == Evolving(always=1, added=5, hinted=6, removed="", listed=[])


def test_defaults_that_are_lists_are_not_shared() -> None:
    first, _ = Evolving.decode(0, b"\x01\x00\x00")
    first.listed.append(1)
    Evolving().listed.append(1)
    assert Evolving.decode(0, b"\x01\x00\x00")[0].listed == Evolving().listed == []


def test_a_value_that_the_version_cannot_carry_is_refused() -> None:
    with pytest.raises(ValueError, match="added does not exist in version 1"):
        Evolving(added=1).encode(1)
    with pytest.raises(ValueError, match="removed does not exist in version 2"):
        Evolving(removed="x").encode(2)
    with pytest.raises(ValueError, match="listed does not exist in version 3"):
        Evolving(listed=[1]).encode(3)


def test_an_ignorable_value_is_left_out_of_versions_that_lack_it() -> None:
    assert encoded(Evolving(always=1, hinted=9), 2) == b"\x01\x05"


def test_null_is_allowed_only_in_the_nullable_versions() -> None:
    assert Evolving.decode(1, b"\x01\xff\xff")[0].removed is None
    with pytest.raises(MalformedRequest, match="removed is null"):
        Evolving.decode(0, b"\x01\xff\xff")
    with pytest.raises(MalformedRequest, match="name is null"):
        Texts.decode(1, bytes(10))


def test_any_negative_length_is_null_as_in_kafka() -> None:
    assert Evolving.decode(1, b"\x01\xff\xf0")[0].removed is None


def test_versions_outside_the_range_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="Evolving has versions 0 to 4, not 5"):
        decoder(Evolving, 5)
    with pytest.raises(ValueError, match="not -1"):
        encoder(Evolving, -1)


def test_the_facts_of_a_message_stand_on_its_class() -> None:
    class Fact(Request, key=9, versions="2-3", flexible="3+"):
        pass

    assert (Fact.api_key, Fact.min_version, Fact.max_version, Fact.flexible_from) == (9, 2, 3, 3)
    assert Numbers.flexible_from is None
    assert decoder(Fact, 3) is decoder(Fact, 3)


# -- malformed -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message, version, wire",
    [
        pytest.param(Numbers, 0, bytes(39), id="the bytes end inside a number"),
        pytest.param(Texts, 1, b"\x05abc", id="a string is longer than the rest"),
        pytest.param(Texts, 0, b"\x7f\xffabc", id="a long string is longer than the rest"),
        pytest.param(Texts, 0, b"\x00\x01\xff" + bytes(20), id="a string is not UTF-8"),
        pytest.param(Texts, 1, b"\xff" * 50, id="a length has no end"),
        pytest.param(Arrays, 0, b"\x7f\xff\xff\xff" + bytes(50), id="a giant array of numbers"),
        pytest.param(Arrays, 0, b"\xff\xff\xff\xff" + bytes(50), id="a null array"),
        pytest.param(Arrays, 1, b"\x01\x00\xff\xff\xff\xff\x0f", id="a giant array of strings"),
        pytest.param(Arrays, 1, b"\x01\x00\x01\x7f" + bytes(99), id="structs beyond the rest"),
        pytest.param(Tagged, 1, b"\x00\x00\x7f" + bytes(99), id="too many tagged fields"),
        pytest.param(Tagged, 1, b"\x00\x00\x01\x00\x09\x00\x03", id="a tagged field too long"),
        pytest.param(Tagged, 1, b"\x00\x00\x01\x00\x03\x00\x03\x00", id="a tag's size is wrong"),
        pytest.param(Tagged, 0, b"\x00\x00\x01\x09\x7f", id="an unknown tagged field too long"),
    ],
)
def test_bytes_that_make_no_sense_are_malformed(
    message: type[Request], version: int, wire: bytes
) -> None:
    with pytest.raises(MalformedRequest):
        message.decode(version, wire)


def test_an_array_of_structs_without_bytes_cannot_grow_beyond_the_frame() -> None:
    class Nothing(Struct):
        pass

    class Hollow(Request, versions="0"):
        nothings: list[Nothing] = array(Nothing)

    with pytest.raises(MalformedRequest, match="more elements"):
        Hollow.decode(0, b"\x7f\xff\xff\xff")


# -- structs ---------------------------------------------------------------------------


def test_structs_are_equal_when_class_and_fields_are() -> None:
    assert Point(x=1) == Point(x=1, y=7)
    assert Point(x=1) != Point(x=2)
    assert Numbers() != Point()


def test_a_struct_shows_its_fields() -> None:
    assert repr(Nested(here=Point(x=1))) == "Nested(here=Point(x=1, y=7), maybe=None)"


def test_a_misspelled_field_is_an_error() -> None:
    with pytest.raises(TypeError):
        Point(z=1)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Point().z = 1  # type: ignore[attr-defined]
