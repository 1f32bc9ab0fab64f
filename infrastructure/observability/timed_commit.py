"""TimedCommit: measures the commits of any engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import perf_counter_ns

from application.metrics.families import own
from application.metrics.families.durations import Durations
from application.metrics.families.family import Reading
from application.ports.commit import Commit
from domain.errors import StorageFailed


class TimedCommit:
    __slots__ = ("_commit", "durations", "failures")

    def __init__(self, commit: Commit) -> None:
        self._commit = commit
        self.durations = Durations()
        self.failures = 0

    def commit(self, done: Callable[[StorageFailed | None], None], waits: bool = False) -> None:
        began_ns = perf_counter_ns()

        def timed(failure: StorageFailed | None) -> None:
            self.durations.add(perf_counter_ns() - began_ns)
            if failure is not None:
                self.failures += 1
            done(failure)

        self._commit.commit(timed, waits)

    def close(self) -> None:
        self._commit.close()

    def read(self) -> Iterator[Reading]:
        yield own.COMMIT_TIME, [((), self.durations.histogram())]
        yield own.COMMIT_FAILURES, [((), self.failures)]
