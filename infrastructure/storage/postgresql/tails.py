"""Tails: how full the tables of entries are, and what becomes of those that are full.

A tail that no run refers to is dropped whole. One slow log would keep many: while more of the full
tails is dead than live, and two tails beyond that, the entries of the one with the least are moved
into the current tail. Retention alone moves nothing: it leaves one tail that is dead in part.
"""

from __future__ import annotations

from collections.abc import Mapping

from infrastructure.storage.errors import StorageDamaged
from infrastructure.storage.postgresql.runs import Runs
from infrastructure.storage.postgresql.server import Rows

#: Of entries; after that a new tail begins.
TAIL_BYTES = 256 << 20
_DEAD_TAILS = 2

_TAILS = "select n, written, dead from ottla_tails order by n"
#: No commit counts them: after a start it is what its pages take.
_CURRENT = """
    select s.tail, pg_relation_size(c.oid) + pg_relation_size(c.reltoastrelid)
    from ottla_store s left join pg_class c on c.oid = to_regclass('ottla_tail_' || s.tail)
"""


class _Tail:
    __slots__ = ("dead_bytes", "written_bytes")

    def __init__(self, written_bytes: int = 0, dead_bytes: int = 0) -> None:
        self.written_bytes = written_bytes
        self.dead_bytes = dead_bytes

    @property
    def live_bytes(self) -> int:
        return self.written_bytes - self.dead_bytes

    @property
    def live_part(self) -> float:
        return self.live_bytes / max(self.written_bytes, 1)


class Tails:
    """Changed by the thread that writes, but for `forget`."""

    def __init__(self, runs: Runs, most_bytes: int = TAIL_BYTES) -> None:
        self._runs = runs
        self._most_bytes = most_bytes
        self._tails: dict[int, _Tail] = {}
        #: Of the broker: all new entries go there.
        self.current = 0
        #: Its entries are to be moved.
        self.sparse: int | None = None
        #: No run refers to them.
        self.unused: tuple[int, ...] = ()

    def load(self, connection: Rows) -> None:
        """Behind the runs. Raises StorageDamaged or psycopg.Error."""
        for number, written_bytes, dead_bytes in connection.execute(_TAILS):
            self._tails[number] = _Tail(written_bytes, dead_bytes)
        [(self.current, written_bytes)] = connection.execute(_CURRENT).fetchall()
        for number in self._runs.tails() | {self.current}:
            if number not in self._tails:
                raise StorageDamaged(f"ottla_tails has no row of ottla_tail_{number}")
        if written_bytes is None:
            raise StorageDamaged(f"there is no ottla_tail_{self.current}")
        self._tails[self.current].written_bytes = written_bytes
        self._look()

    @property
    def written_bytes(self) -> int:
        """To the current one."""
        return self._tails[self.current].written_bytes

    @property
    def is_full(self) -> bool:
        return self.written_bytes >= self._most_bytes

    def begin(self, number: int) -> None:
        self._tails[number] = _Tail()
        self.current = number
        self._look()

    def add(self, written_bytes: int) -> None:
        self._tails[self.current].written_bytes += written_bytes

    def changed(self, dead: Mapping[int, int]) -> None:
        """By a commit, whose runs are put."""
        for number, dead_bytes in dead.items():
            self._tails[number].dead_bytes += dead_bytes
        self._look()

    def _look(self) -> None:
        full = {one: tail for one, tail in list(self._tails.items()) if one != self.current}
        self.unused = tuple(one for one in full if not self._runs.are_in(one))
        used = {one: tail for one, tail in full.items() if self._runs.are_in(one)}
        dead_bytes = sum(tail.dead_bytes for tail in used.values())
        live_bytes = sum(tail.live_bytes for tail in used.values())
        self.sparse = None
        if dead_bytes > live_bytes + _DEAD_TAILS * self._most_bytes:
            self.sparse = min(used, key=lambda one: used[one].live_part)

    def forget(self, number: int) -> None:
        """It was dropped. From any thread."""
        self._tails.pop(number, None)
        self.unused = tuple(one for one in self.unused if one != number)
