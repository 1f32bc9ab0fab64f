"""Migrations: steps from each older format of the tables to the next one."""

from __future__ import annotations

from collections.abc import Callable

from infrastructure.storage.postgresql.server import Rows
from infrastructure.storage.postgresql.tables import (
    FORMAT,
    MAKE_TAILS,
    TAIL_VACUUM,
    VACUUM,
    lock_tables,
)

_TO_TAILS = (
    "alter table ottla_store add tail bigint not null default 1",
    "alter table ottla_store alter tail drop default",
    f"alter table ottla_store set ({VACUUM})",
    *MAKE_TAILS,
    # As the current one it is counted at the start, and left behind if it is large.
    "insert into ottla_tails (written) values (0)",
    # One partition after the other, not all entries.
    """insert into ottla_runs (partition_id, first_offset, tail)
        with recursive steps as (
            (select partition_id from ottla_entries order by partition_id limit 1)
            union all
            select found.partition_id from steps, lateral (
                select partition_id from ottla_entries where partition_id > steps.partition_id
                order by partition_id limit 1) found)
        select partition_id, 0, 1 from steps""",
    "alter table ottla_entries rename to ottla_tail_1",
    "alter index ottla_entries_pkey rename to ottla_tail_1_pkey",
    "alter index ottla_timestamps rename to ottla_tail_1_timestamps",
    f"alter table ottla_tail_1 set ({TAIL_VACUUM})",
)


def _to_tails(connection: Rows) -> None:
    """2: entries were in one table, from which they were deleted."""
    for statement in _TO_TAILS:
        connection.execute(statement, prepare=False)


STEPS: dict[int, Callable[[Rows], None]] = {1: _to_tails}


def migrate(connection: Rows) -> None:
    """All steps in one transaction, by a broker that has the session. Raises psycopg.Error."""
    with connection.transaction():
        lock_tables(connection)
        [(format_,)] = connection.execute("select format from ottla_store").fetchall()
        if format_ == FORMAT:
            return
        for number in range(format_, FORMAT):
            STEPS[number](connection)
        connection.execute("update ottla_store set format = %s", (FORMAT,))
