"""What kio does not test: defaults of tagged fields, large records, fields of other versions."""

from __future__ import annotations

import pytest

from tests.unit.interfaces.kafka.wire.declared import (
    Arrays,
    Evolving,
    Point,
    Tagged,
    Texts,
    both_ways,
    encoded,
)


@pytest.mark.parametrize("size", [126, 127, 128, 16382, 16383, 16384])
@pytest.mark.parametrize("version", [0, 1])
def test_lengths_around_the_limits_of_a_varint(size: int, version: int) -> None:
    texts = Texts(name="n" * size, note="o" * size, blob=b"b" * size, records=b"r" * size)
    assert Texts.decode(version, encoded(texts, version))[0] == texts
    arrays = Arrays(numbers=[1] * size, maybe=[2] * size, names=["z"] * size, points=[])
    assert Arrays.decode(version, encoded(arrays, version))[0] == arrays


def test_tagged_fields_come_last_with_tag_and_size_unless_they_have_their_default() -> None:
    both_ways(Tagged(before=1, after=2), 1, b"\x01\x02\x00")
    assert encoded(Tagged(point=Point()), 1) == b"\x00\x00\x00"
    tagged = Tagged(before=1, small=3, point=Point(x=4, y=5), names=["a"], after=2)
    wire = b"\x01\x02\x03" + b"\x00\x02\x00\x03" + b"\x01\x03\x04\x05\x00" + b"\x02\x03\x02\x02a"
    both_ways(tagged, 1, wire)


def test_large_records_are_not_copied_and_small_ones_are_joined_with_the_rest() -> None:
    records = memoryview(bytes(100_000))
    pieces = Texts(name="a", records=records).encode(1)
    assert [len(piece) for piece in pieces] == [7, 100_000, 1]
    assert pieces[1] is records
    assert len(Texts(records=bytes(100)).encode(1)) == 1


def test_a_field_that_the_version_lacks_is_an_error_unless_it_is_ignorable() -> None:
    for message, version in (
        (Evolving(added=1), 1),
        (Evolving(removed="x"), 2),
        (Evolving(listed=[1]), 3),
    ):
        with pytest.raises(ValueError, match=f"does not exist in version {version}"):
            message.encode(version)
    assert encoded(Evolving(always=1, hinted=9), 2) == b"\x01\x05"
