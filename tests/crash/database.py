"""A store in PostgreSQL, and what happens to the server beside the deaths of its brokers."""

from __future__ import annotations

import random
import re
import threading
import time
from typing import Self
from uuid import uuid4

from tests.fakes.postgres import Postgres

#: What a broker may log meanwhile.
SERVER_IS_AWAY = re.compile("storage_waits|partition_unreadable")
MOST_DELAY_S = 0.2
RESTART, CUT, NOTHING = "the server restarts", "connections end", "nothing"
#: Of our own connections.
_CUT = (
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'ottla %'"
)


class Database:
    """One store."""

    def __init__(self, server: Postgres) -> None:
        self._server = server
        self._schema = f"crashed_{uuid4().hex[:12]}"
        self.url = f"postgresql://postgres@/postgres?host={server.folder}&schema={self._schema}"

    def restart(self, flush: str = "commit") -> None:
        """At once; with flush=os in order: a crash of the server would lose commits."""
        self._server.stop("fast" if flush == "os" else "immediate")
        self._server.start()

    def cut(self) -> None:
        self._server.execute(_CUT)


class Trouble:
    """Drawn by chance; happens in a thread, while the context lasts."""

    def __init__(
        self, database: Database | None, chance: random.Random, flush: str, what: str = ""
    ) -> None:
        self._database, self._flush = database, flush
        self.what, self._delays_s = NOTHING, [0.0]
        if database is not None:
            self.what = what or chance.choice((RESTART, CUT, CUT, NOTHING))
            self._delays_s = [chance.random() * MOST_DELAY_S for _ in range(chance.randint(1, 3))]
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        if self.what != NOTHING:
            self._thread.start()
        return self

    def __exit__(self, *_failure: object) -> None:
        if self.what != NOTHING:
            self._thread.join()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            for delay_s in self._delays_s if self.what == CUT else self._delays_s[:1]:
                time.sleep(delay_s)
                self._happen()
        except BaseException as failure:
            self._failure = failure

    def _happen(self) -> None:
        assert self._database is not None
        if self.what == CUT:
            self._database.cut()
        else:
            self._database.restart(self._flush)
