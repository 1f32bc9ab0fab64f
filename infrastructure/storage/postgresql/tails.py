"""Tails: how full the tables of entries are, and what becomes of those that are full.

A tail that no run refers to is dropped whole. Of one whose live entries are less than half of what
was written the rest is moved into the current tail: one slow log would keep many.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import monotonic

from infrastructure.storage.postgresql.runs import Runs
from infrastructure.storage.postgresql.server import Rows

#: Of entries; after that a new tail begins.
TAIL_BYTES = 256 << 20
#: Or then, if there is something in it: few records, too, go soon after retention removes them.
TAIL_S = 600.0

_TAILS = "select n, written, dead from ottla_tails order by n"
#: Nothing is counted at each commit: after a start it is what its pages take.
_CURRENT = """
    select s.tail, pg_relation_size(c.oid) + pg_relation_size(c.reltoastrelid)
    from ottla_store s join pg_class c on c.oid = to_regclass('ottla_tail_' || s.tail)
"""


class _Tail:
    __slots__ = ("dead_bytes", "written_bytes")

    def __init__(self, written_bytes: int = 0, dead_bytes: int = 0) -> None:
        self.written_bytes = written_bytes
        self.dead_bytes = dead_bytes


class Tails:
    """Changed by the thread that writes, but for `forget`."""

    def __init__(self, runs: Runs, most_bytes: int = TAIL_BYTES) -> None:
        self._runs = runs
        self._most_bytes = most_bytes
        self._tails: dict[int, _Tail] = {}
        self._began_s = 0.0
        #: Of the broker: all entries go there.
        self.current = 0
        #: Full, and mostly dead: its entries are to be moved.
        self.sparse: int | None = None
        #: No run refers to them.
        self.unused: tuple[int, ...] = ()

    def load(self, connection: Rows) -> None:
        """Behind the runs. Raises psycopg.Error."""
        for number, written_bytes, dead_bytes in connection.execute(_TAILS):
            self._tails[number] = _Tail(written_bytes, dead_bytes)
        [(self.current, written_bytes)] = connection.execute(_CURRENT).fetchall()
        self._tails[self.current].written_bytes = written_bytes
        self._began_s = monotonic()
        self._look()

    @property
    def written_bytes(self) -> int:
        """To the current one."""
        return self._tails[self.current].written_bytes

    @property
    def is_full(self) -> bool:
        written_bytes = self._tails[self.current].written_bytes
        return written_bytes >= self._most_bytes or (
            written_bytes > 0 and monotonic() - self._began_s > TAIL_S
        )

    def begin(self, number: int) -> None:
        self._tails[number] = _Tail()
        self.current, self._began_s = number, monotonic()
        self._look()

    def add(self, written_bytes: int) -> None:
        self._tails[self.current].written_bytes += written_bytes

    def changed(self, dead: Mapping[int, int]) -> None:
        """By a commit, whose runs are put."""
        for number, dead_bytes in dead.items():
            self._tails[number].dead_bytes += dead_bytes
        self._look()

    def _look(self) -> None:
        full = [
            (number, tail) for number, tail in list(self._tails.items()) if number != self.current
        ]
        self.unused = tuple(number for number, _ in full if not self._runs.are_in(number))
        self.sparse = next(
            (
                number
                for number, tail in full
                if tail.dead_bytes * 2 > tail.written_bytes and self._runs.are_in(number)
            ),
            None,
        )

    def forget(self, number: int) -> None:
        """It was dropped. From any thread."""
        self._tails.pop(number, None)
        self.unused = tuple(one for one in self.unused if one != number)
