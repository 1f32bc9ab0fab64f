"""Structs and messages as classes."""

from __future__ import annotations

import pytest

from interfaces.kafka.wire.schema import Request, decoder, encoder
from tests.unit.interfaces.kafka.wire.declared import Evolving, Nested, Numbers, Point


def test_an_unknown_version_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="not 5"):
        decoder(Evolving, 5)
    with pytest.raises(ValueError, match="not -1"):
        encoder(Evolving, -1)


def test_a_message_has_its_key_and_versions_on_its_class() -> None:
    class Example(Request, key=9, versions="2-3", flexible="3+"):
        pass

    assert (Example.api_key, Example.min_version, Example.max_version, Example.flexible_from) == (
        9,
        2,
        3,
        3,
    )
    assert Numbers.flexible_from is None
    assert decoder(Example, 3) is decoder(Example, 3)


def test_structs_are_equal_if_class_and_fields_are() -> None:
    assert Point(x=1) == Point(x=1, y=7)
    assert Point(x=1) != Point(x=2)
    assert Numbers() != Point()


def test_the_representation_of_a_struct_has_its_fields() -> None:
    assert repr(Nested(here=Point(x=1))) == "Nested(here=Point(x=1, y=7), maybe=None)"


def test_an_unknown_field_is_an_error() -> None:
    with pytest.raises(TypeError):
        Point(z=1)  # type: ignore[call-arg]
    with pytest.raises(AttributeError):
        Point().z = 1  # type: ignore[attr-defined]
