"""Arrays in PostgreSQL's binary form, as psycopg encodes them itself."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg.adapt import Transformer
from psycopg.pq import Format
from psycopg.types.numeric import Int8

from infrastructure.storage.postgresql.arrays import bigints, byteas, texts


def encoded(values: list[Any]) -> bytes:
    dumper = Transformer(None).get_dumper(values, psycopg.adapt.PyFormat.BINARY)
    assert dumper.format == Format.BINARY
    found = dumper.dump(values)
    assert found is not None
    return bytes(found)


@pytest.mark.parametrize("values", [[0], [1, -1], [1 << 62, -(1 << 63), 5]])
def test_bigints(values: list[int]) -> None:
    assert bigints(values).data == encoded([Int8(value) for value in values])


@pytest.mark.parametrize("values", [[b""], [b"a", b"", bytes(100_000)]])
def test_byteas(values: list[bytes]) -> None:
    assert byteas(values).data == encoded(values)


@pytest.mark.parametrize("values", [[""], ["topics", "Größe"]])
def test_texts(values: list[str]) -> None:
    assert texts(values).data == encoded(values)
