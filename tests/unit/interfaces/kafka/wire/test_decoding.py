"""Rules of decoding only: order of tagged fields, unknown ones, nulls, views, invalid bytes."""

from __future__ import annotations

import pytest

from interfaces.kafka.wire.fields import array, int8
from interfaces.kafka.wire.primitives import MalformedRequest
from interfaces.kafka.wire.schema import Request, decoder
from interfaces.kafka.wire.structs import Struct
from tests.unit.interfaces.kafka.wire.declared import (
    Arrays,
    Evolving,
    Numbers,
    Point,
    Tagged,
    Texts,
    encoded,
)


def test_any_byte_but_zero_is_true() -> None:
    numbers, _ = Numbers.decode(0, b"\x05" + bytes(39))
    assert numbers.a is True


def test_tagged_fields_can_have_any_order() -> None:
    tagged, _ = Tagged.decode(1, b"\x00\x00\x02" + b"\x01\x03\x04\x05\x00" + b"\x00\x02\x00\x03")
    assert tagged == Tagged(small=3, point=Point(x=4, y=5))


def test_unknown_tagged_fields_are_skipped() -> None:
    wire = b"\x00\x00\x02" + b"\x02\x03\x02\x02a" + b"\x63\x01!"
    tagged, end = Tagged.decode(0, wire)
    assert (tagged, end) == (Tagged(), len(wire))
    arrays, _ = Arrays.decode(1, b"\x01\x00\x01\x02\x01\x02\x01\x63\x01!\x01\x64\x00")
    assert arrays == Arrays(maybe=None, points=[Point(x=1, y=2)])


def test_records_are_views_of_the_buffer() -> None:
    buffer = bytearray(encoded(Texts(records=b"records"), 1))
    texts, _ = Texts.decode(1, memoryview(buffer))
    assert isinstance(texts.records, memoryview)
    buffer[buffer.index(b"records")] = ord("R")
    assert bytes(texts.records) == b"Records"


def test_a_field_that_the_version_lacks_has_its_default_and_lists_are_not_shared() -> None:
    message, _ = Evolving.decode(0, b"\x01\x00\x00")
    assert message == Evolving(always=1, added=5, hinted=6, removed="", listed=[])
    message.listed.append(1)
    Evolving().listed.append(1)
    assert Evolving.decode(0, b"\x01\x00\x00")[0].listed == Evolving().listed == []


def test_null_is_any_negative_length_and_only_in_nullable_versions() -> None:
    for length in (b"\xff\xff", b"\xff\xf0"):
        assert Evolving.decode(1, b"\x01" + length)[0].removed is None
    with pytest.raises(MalformedRequest, match="removed is null"):
        Evolving.decode(0, b"\x01\xff\xff")
    with pytest.raises(MalformedRequest, match="name is null"):
        Texts.decode(1, bytes(10))


@pytest.mark.parametrize(
    "message, version, wire",
    [
        pytest.param(Numbers, 0, bytes(39), id="the bytes end in a number"),
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
def test_invalid_bytes_are_malformed(message: type[Request], version: int, wire: bytes) -> None:
    with pytest.raises(MalformedRequest):
        message.decode(version, wire)


def test_an_array_of_empty_structs_has_no_more_elements_than_the_frame_has_bytes() -> None:
    class Nothing(Struct):
        pass

    class Hollow(Request, versions="0"):
        nothings: list[Nothing] = array(Nothing)

    with pytest.raises(MalformedRequest, match="more elements"):
        Hollow.decode(0, b"\x7f\xff\xff\xff")


def test_the_elements_of_all_arrays_of_a_request_are_limited() -> None:
    class Inner(Struct):
        numbers: list[int] = array(int8)

    class Nested(Request):
        inners: list[Inner] = array(Inner)

    def request(inners: int, numbers: int) -> bytes:
        inner = numbers.to_bytes(4, "big") + bytes(numbers)
        return inners.to_bytes(4, "big") + inner * inners

    decode = decoder(Nested, 0, max_elements=1000)
    just_enough, _ = decode(request(2, 499), 0)
    assert [len(inner.numbers) for inner in just_enough.inners] == [499] * 2
    for inners, numbers in ((2, 500), (1001, 0), (1, 1000)):
        with pytest.raises(MalformedRequest, match="more than 1000 elements"):
            decode(request(inners, numbers), 0)
    unbounded, _ = Nested.decode(0, request(2, 500))
    assert len(unbounded.inners) == 2


def test_a_string_is_as_long_as_in_old_versions_at_most() -> None:
    longest = Texts(name="n" * 0x7FFF)
    assert Texts.decode(1, encoded(longest, 1))[0] == longest
    with pytest.raises(MalformedRequest, match="too long"):
        Texts.decode(1, encoded(Texts(name="n" * 0x8000), 1))
