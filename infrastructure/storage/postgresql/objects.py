"""PostgresObjects: what a process knows of the objects of its store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, LiteralString

import psycopg

from domain.errors import StorageFailed
from infrastructure.storage.engine import EntryBytes
from infrastructure.storage.objects.errors import ObjectsFailed
from infrastructure.storage.postgresql.commit import PostgresCommit
from infrastructure.storage.postgresql.contents import Contents
from infrastructure.storage.postgresql.server import Server
from infrastructure.storage.traffic import Traffic

if TYPE_CHECKING:
    from infrastructure.storage.objects.bucket import Bucket

#: Also of objects that are deleted soon.
_KNOWN = "select object from ottla_tails where object is not null"
_NEEDED = f"{_KNOWN} and session is null and deleted is null"


class PostgresObjects:
    """Implements infrastructure.storage.engine.Objects."""

    def __init__(
        self,
        bucket: Bucket,
        server: Server,
        store_id: str,
        contents: Contents,
        commit: PostgresCommit,
    ) -> None:
        self._bucket = bucket
        self._server = server
        self._store_id = store_id
        self._contents = contents
        self._commit = commit

    @property
    def shown(self) -> str:
        return self._bucket.address.shown

    @property
    def traffic(self) -> Traffic:
        return self._bucket.traffic

    def sizes(self) -> EntryBytes:
        return self._contents.tails.sizes()

    def not_sealed(self) -> str | None:
        return self._commit.not_sealed()

    def check(self) -> None:
        try:
            next(self._bucket.names(), None)
        except ObjectsFailed as error:
            raise StorageFailed(str(error)) from error

    def strays(self) -> Iterator[tuple[str, int]]:
        found = self._in_bucket()
        known = self._in_database(_KNOWN)
        yield from (one for one in found.items() if one[0] not in known)

    def missing(self) -> Sequence[str]:
        before = self._in_database(_NEEDED)
        found = self._in_bucket()
        # A broker may have deleted some meanwhile.
        return sorted(before & self._in_database(_NEEDED) - found.keys())

    def _in_bucket(self) -> dict[str, int]:
        """With their sizes."""
        try:
            found = self._bucket.names()
            return {name: size for name, size in found if name.startswith(self._store_id)}
        except ObjectsFailed as error:
            raise StorageFailed(str(error)) from error

    def _in_database(self, query: LiteralString) -> set[str]:
        try:
            with closing(self._server.connect()) as connection:
                return {name for (name,) in connection.execute(query)}
        except psycopg.Error as error:
            raise self._server.failed("could not be read", error) from error
