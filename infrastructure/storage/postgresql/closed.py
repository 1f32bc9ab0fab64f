"""PostgresSchema: a store in PostgreSQL that no broker has open, for `ottla storage`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property

import psycopg
from psycopg import sql

from infrastructure.storage.errors import StorageForeign, StorageUnusable
from infrastructure.storage.postgresql.address import LONGEST_SCHEMA, SCHEME, parse_address
from infrastructure.storage.postgresql.server import Rows, Server, in_schema, reason_of
from infrastructure.storage.postgresql.tables import has_tables

#: Ends the name of a schema while a copy is made.
_PARTIAL = "_partial"
#: In a schema that could be a store.
_FOREIGN = """
    select relname from pg_class join pg_namespace n on n.oid = relnamespace
    where nspname = %s and relname !~ '^ottla_' limit 1
"""


class PostgresSchema:
    """Implements infrastructure.storage.engine.ClosedStore."""

    path = None
    not_compacted = ""

    def __init__(self, place: str) -> None:
        self._address = parse_address(place)
        self.url = f"{SCHEME}://{place}"

    @property
    def pages(self) -> str:
        if self.has_checked_pages:
            return "PostgreSQL checks each page that it reads (data_checksums)"
        return "PostgreSQL does not check its pages: data_checksums is off"

    @cached_property
    def has_checked_pages(self) -> bool:
        with self._connected() as connection:
            [(setting,)] = connection.execute("show data_checksums").fetchall()
        return bool(setting == "on")

    @property
    def shown(self) -> str:
        return f"{self._address.shown}, schema {self._address.schema}"

    def exists(self) -> bool:
        return self.has_store()

    def has_store(self) -> bool:
        with self._connected() as connection:
            return has_tables(connection, self._address)

    def last_end(self) -> str:
        return "PostgreSQL recovers its own data after a crash"

    def check_pages(self) -> str | None:
        return None

    def compact(self, report: Callable[[float], object]) -> tuple[int, int]:
        raise StorageUnusable("PostgreSQL frees space by itself (autovacuum), or by VACUUM FULL")

    @contextmanager
    def made_whole(self) -> Iterator[str]:
        """The URL of a schema beside it, which takes its name when all went well."""
        schema = self._address.schema
        beside = f"{schema[: LONGEST_SCHEMA - len(_PARTIAL)]}{_PARTIAL}"
        if beside == schema:
            raise StorageUnusable(f"schema={schema} has the name of one in which a copy is made")
        partial = PostgresSchema(self._address.in_other_schema(beside))
        partial._drop()
        try:
            yield partial.url
            with self._connected() as connection:
                # `CREATE SCHEMA` of an operator, or of a broker that found no store.
                connection.execute(in_schema("drop schema if exists {schema}", self._address))
                connection.execute(
                    sql.SQL("alter schema {} rename to {}").format(
                        sql.Identifier(beside), sql.Identifier(schema)
                    )
                )
        except BaseException:
            with suppress(StorageUnusable):  # the failure before it counts
                partial._drop()
            raise

    def _drop(self) -> None:
        """Of a copy that was not finished."""
        with self._connected() as connection:
            found = connection.execute(_FOREIGN, (self._address.schema,)).fetchall()
            if found:
                raise StorageForeign(
                    f"schema {self._address.schema} is in the way: it has {found[0][0]}"
                )
            connection.execute(in_schema("drop schema if exists {schema} cascade", self._address))

    @contextmanager
    def _connected(self) -> Iterator[Rows]:
        try:
            with closing(Server(self._address, "commit").connect()) as connection:
                yield connection
        except psycopg.Error as error:
            raise StorageUnusable(reason_of(error)) from error
