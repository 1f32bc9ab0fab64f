"""In the broker's process: it stops at a point of a commit, so that others fence it just there.

It stops (SIGSTOP) when a file in its folder names the point.
"""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path
from threading import Timer
from typing import Any

from tests.crash.passages import Passages

#: In the broker's folder.
STOP_AT = "stop-at"
STAGED, ANSWERED = "commit: staged", "commit: persisted, no response sent"
NOT_SENT, PERSISTED = "postgresql: not sent", "postgresql: persisted, not yet known"
SENT = "commit: sent"
POINTS = (STAGED, NOT_SENT, SENT, PERSISTED, ANSWERED)
#: About what a commit takes.
MOST_LATER_S = 0.003


class Stops(Passages):
    def __init__(self, file: Path) -> None:
        super().__init__(None)
        self._file = file

    def at(self, name: str) -> None:
        if self.reached(name):
            _stop()

    def soon(self, name: str) -> None:
        if self.reached(name):
            Timer(random.uniform(0, MOST_LATER_S), _stop).start()

    def reached(self, name: str) -> bool:
        try:
            if self._file.read_text() != name:
                return False
            self._file.unlink()
        except FileNotFoundError:
            return False
        return True


def _stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def stop_when_told() -> None:
    from infrastructure.storage.postgresql import writer
    from infrastructure.storage.postgresql.commit import PostgresCommit
    from infrastructure.storage.postgresql.loop_commits import LoopCommits
    from tests.crash.postgresql_passages import name_postgresql

    stops = Stops(Path(STOP_AT).absolute())
    name_postgresql(stops)
    stops.around(PostgresCommit, "commit", STAGED, "")
    stops.around(PostgresCommit, "_committed", ANSWERED, "")
    send, send_next = writer.sent, LoopCommits._send_next

    def named(*arguments: Any) -> str | None:
        stops.soon(SENT)
        return send(*arguments)

    def named_on_loop(self: LoopCommits, pgconn: Any) -> None:
        stops.soon(SENT)
        send_next(self, pgconn)

    writer.sent = named  # type: ignore[attr-defined]
    LoopCommits._send_next = named_on_loop  # type: ignore[method-assign]
