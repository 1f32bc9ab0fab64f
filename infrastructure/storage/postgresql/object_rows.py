"""The rows of objects that no run refers to yet.

The row is there before the object, so that a crash leaves no object without a row.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import NamedTuple

from infrastructure.storage.postgresql.server import Rows

_NEW_OBJECT = """
    insert into ottla_tails (written, object, session)
    select 0, (select id from ottla_store) || '/' || %s, session
    from ottla_fences where session = %s returning n, object
"""
#: It may have been sealed by a commit whose outcome is not known here.
_GIVE_UP = """
    update ottla_tails set deleted = clock_timestamp() where n = any(%s) and session is not null
    and deleted is null
"""


class ObjectRow(NamedTuple):
    number: int
    name: str


def new_object(connection: Rows, session: int) -> ObjectRow | None:
    """None: the broker has another session by now. Raises psycopg.Error."""
    values = secrets.token_hex(16), session
    found = connection.execute(_NEW_OBJECT, values).fetchall()
    return ObjectRow(*found[0]) if found else None


def give_up(connection: Rows, numbers: Sequence[int]) -> None:
    """No commit will refer to them. Raises psycopg.Error."""
    if numbers:
        connection.execute(_GIVE_UP, (list(numbers),))
