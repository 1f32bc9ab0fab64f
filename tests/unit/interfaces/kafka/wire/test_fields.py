from __future__ import annotations

import pytest

from interfaces.kafka.wire.fields import NO_LIMIT, Field, int16, parse_versions, string


@pytest.mark.parametrize(
    "text, first_and_last",
    [("0+", (0, NO_LIMIT)), ("3-13", (3, 13)), ("5", (5, 5)), (None, (1, 0))],
)
def test_version_ranges_are_in_kafkas_notation(
    text: str | None, first_and_last: tuple[int, int]
) -> None:
    assert parse_versions(text) == first_and_last


def test_a_field_knows_the_versions_that_have_it_and_those_that_may_be_null() -> None:
    field = Field("string", "2-5", nullable="4+")
    assert [version for version in range(8) if field.is_in(version)] == [2, 3, 4, 5]
    assert not field.is_nullable_in(3)
    assert field.is_nullable_in(4)


def test_a_declaration_is_a_field_that_is_typed_as_its_value() -> None:
    declared: object = string("1+", nullable="1+", default=None)
    assert isinstance(declared, Field)
    assert (declared.kind, declared.default) == ("string", None)


def test_defaults_are_those_of_the_type_unless_given() -> None:
    zero: object = int16()
    given: object = int16(default=-1)
    assert isinstance(zero, Field)
    assert isinstance(given, Field)
    assert (zero.default, given.default) == (0, -1)
