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


def test_a_field_has_its_versions_and_is_nullable_in_some() -> None:
    field = Field("string", "2-5", nullable="4+")
    assert [version for version in range(8) if field.is_in(version)] == [2, 3, 4, 5]
    assert [field.is_nullable_in(version) for version in (3, 4)] == [False, True]


def test_a_default_is_that_of_the_type_or_of_the_declaration() -> None:
    text: object = string("1+", nullable="1+", default=None)
    zero: object = int16()
    declared: object = int16(default=-1)
    found = [(one.kind, one.default) for one in (text, zero, declared) if isinstance(one, Field)]
    assert found == [("string", None), ("int16", 0), ("int16", -1)]
