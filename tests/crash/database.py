"""A store in PostgreSQL, and what happens to the server beside the deaths of its brokers."""

from __future__ import annotations

import random
import re
import threading
import time
from typing import Self
from uuid import uuid4

from tests.fakes.postgres import Postgres
from tests.fakes.postgres_relay import PostgresRelay

#: What a broker may log meanwhile.
SERVER_IS_AWAY = re.compile("storage_waits|partition_unreadable")
RESTART, CUT, NOTHING = "the server restarts", "connections end", "nothing"
#: The server has executed a statement, which the broker is not told.
LOSE = "a response is lost"
#: Of our own connections.
_CUT = (
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'ottla %'"
)


class Database:
    """One store, behind a relay that loses responses."""

    def __init__(self, server: Postgres, more: str = "") -> None:
        """`more`: of the URL."""
        self._server = server
        self._relay = PostgresRelay(server.folder)
        self._schema = f"crashed_{uuid4().hex[:12]}"
        place = f"postgres@/postgres?host={self._relay.folder}&schema={self._schema}"
        self.url = f"postgresql://{place}{more}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self._relay.close()

    def execute(self, *statements: str) -> list[tuple[object, ...]]:
        return self._server.execute(f"set search_path = {self._schema}", *statements)

    def restart(self, flush: str = "commit", away_s: float = 0.0) -> None:
        """At once; with flush=os in order: a crash of the server would lose commits."""
        self._server.stop("fast" if flush == "os" else "immediate")
        time.sleep(away_s)
        self._server.start()

    def cut(self) -> None:
        self._server.execute(_CUT)

    def lose(self) -> None:
        """The next response, with its connection."""
        self._relay.cut_at_response()

    def lose_nothing(self) -> None:
        self._relay.pass_all()


class Trouble:
    """Drawn by chance; happens in a thread, while the context lasts."""

    def __init__(
        self,
        database: Database | None,
        chance: random.Random,
        flush: str,
        what: str = "",
        within_s: float = 0.2,
    ) -> None:
        self._database, self._flush = database, flush
        self.what, self._delays_s = NOTHING, [0.0]
        if database is not None:
            self.what = what or chance.choice((RESTART, CUT, LOSE, LOSE, NOTHING))
            self._delays_s = [chance.random() * within_s for _ in range(chance.randint(1, 3))]
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def reads_may_fail(self) -> bool:
        """They are repeated once."""
        return self.what != NOTHING and (self.what == RESTART or len(self._delays_s) > 1)

    def __enter__(self) -> Self:
        if self.what != NOTHING:
            self._thread.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        if self._database is not None:
            if self.what != NOTHING:
                self._thread.join()
            self._database.lose_nothing()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            for delay_s in self._delays_s[:1] if self.what == RESTART else self._delays_s:
                time.sleep(delay_s)
                self._happen()
        except BaseException as failure:
            self._failure = failure

    def _happen(self) -> None:
        assert self._database is not None
        if self.what == CUT:
            self._database.cut()
        elif self.what == LOSE:
            self._database.lose()
        else:
            self._database.restart(self._flush, self._delays_s[-1])
