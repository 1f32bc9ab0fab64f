"""Sends a fenced statement, and returns the new place of the fence."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

import psycopg
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import ExecStatus

from infrastructure.storage.postgresql.arrays import Array
from infrastructure.storage.postgresql.server import Rows

#: Of a commit.
_LARGE_BYTES = 4 << 20


def sent(connection: Rows, statement: str, parameters: list[Any]) -> str | None:
    """None: the fence let nothing pass. Raises psycopg.Error."""
    size_bytes = sum(len(one.data) for one in parameters if isinstance(one, Array))
    # Ctrl-C would wait for the response.
    if size_bytes > _LARGE_BYTES and threading.current_thread() is not threading.main_thread():
        return _sent_much(connection, statement, parameters)
    found = connection.execute(statement.encode(), parameters).fetchall()
    return found[0][0] if found else None


def _sent_much(connection: Rows, statement: str, parameters: list[Any]) -> str | None:
    """psycopg sends what the socket takes, piece by piece; for each one libpq moves all that is
    left, and no other thread runs meanwhile: 200 MB take 12 s, and stop the loop for 9.
    """
    transformer = Transformer(connection)
    values = transformer.dump_sequence(parameters, [PyFormat.BINARY] * len(parameters))
    pgconn = connection.pgconn
    pgconn.nonblocking = 0
    try:
        result = pgconn.exec_params(
            numbered(statement), values, transformer.types, transformer.formats
        )
    finally:
        pgconn.nonblocking = 1
    if result.status != ExecStatus.TUPLES_OK:
        raise psycopg.errors.error_from_result(result)
    place = result.get_value(0, 0)
    return None if place is None else bytes(place).decode()


@lru_cache(maxsize=32)
def numbered(statement: str) -> bytes:
    """With parameters as PostgreSQL itself has them."""
    first, *others = statement.split("%b")
    numbered = (f"${number}{text}" for number, text in enumerate(others, 1))
    return (first + "".join(numbered)).encode()
