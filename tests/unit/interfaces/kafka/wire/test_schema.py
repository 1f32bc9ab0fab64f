"""Structs and messages as classes."""

from __future__ import annotations

import pytest

from interfaces.kafka.wire.schema import Request, decoder, encoder
from tests.unit.interfaces.kafka.wire.declared import Evolving, Nested, Numbers, Point


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
