"""Past: a database that loses commits, as a standby that lagged when it was promoted."""

from __future__ import annotations

from tests.contract.joined_brokers import JoinedBrokers
from tests.contract.relayed_postgres import RelayedPostgres


class Past:
    """The tables of a store, as they were."""

    def __init__(self, postgres: RelayedPostgres | JoinedBrokers) -> None:
        self._execute, self._past = postgres.execute, f"{postgres.schema}_past"
        self._relay = postgres.relay
        found = self._execute(
            "select relname from pg_class where relkind = 'r' and relname ~ '^ottla_'"
            f" and relnamespace = '{postgres.schema}'::regnamespace"
        )
        self._tables = [str(name) for (name,) in found]
        self._execute(f"create schema {self._past}")
        for name in self._tables:
            self._execute(
                f"create table {self._past}.{name} (like {name} including all)",
                f"insert into {self._past}.{name} overriding system value select * from {name}",
            )

    def return_to(self, accepts: bool = True) -> None:
        """Tables that were made since stay: the newest numbers are not used again."""
        self._relay.refuse()  # all that connects again finds what is lost
        self._relay.cut()
        statements = []
        for name in self._tables:
            statements += [
                f"create table if not exists {name} (like {self._past}.{name} including all)",
                f"delete from {name}",
                f"insert into {name} overriding system value select * from {self._past}.{name}",
            ]
        self._execute("begin", *statements, "commit", f"drop schema {self._past} cascade")
        if accepts:
            self._relay.accept()
