"""Tails: how full the tables of entries are, and what becomes of those that are full.

A tail that no run refers to is dropped whole. One slow log would keep many: while more of the full
tails is dead than live, and two tails beyond that, the entries of the one with the least are moved
into the current tail. Retention alone moves nothing: it leaves one tail that is dead in part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from infrastructure.storage.errors import StorageDamaged
from infrastructure.storage.postgresql.runs import Runs
from infrastructure.storage.postgresql.server import Rows

#: Of entries; after that a new tail begins.
TAIL_BYTES = 256 << 20
_DEAD_TAILS = 2

_TAILS = "select n, written, dead from ottla_tails where n = any(%s) order by n"
#: No commit counts them: after a start it is what its pages take.
_CURRENT = """
    select s.tail, pg_relation_size(c.oid) + pg_relation_size(c.reltoastrelid)
    from ottla_fences s left join pg_class c on c.oid = to_regclass('ottla_tail_' || s.tail)
    where s.node_id = %s
"""
#: A broker that stopped has left full ones, and nobody may have runs in them any more.
_FULL = "select n, written, dead from ottla_tails where n not in (select tail from ottla_fences)"


#: Number, bytes that were written, and bytes that are not needed any more.
TailRow = tuple[int, int, int]


def tail_rows(connection: Rows, numbers: Collection[int]) -> list[TailRow]:
    """Raises psycopg.Error."""
    if not numbers:
        return []
    return [(n, w, d) for n, w, d in connection.execute(_TAILS, (list(numbers),)).fetchall()]


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

    def load(self, connection: Rows, node_id: int) -> None:
        """Raises StorageDamaged or psycopg.Error."""
        found = connection.execute(_CURRENT, (node_id,)).fetchall()
        if found:  # it writes
            [(self.current, written_bytes)] = found
            if written_bytes is None:
                raise StorageDamaged(f"there is no ottla_tail_{self.current}")
            self._tails[self.current] = _Tail(written_bytes)
        self.add_known(connection.execute(_FULL).fetchall())

    def add_known(self, tails: Iterable[TailRow]) -> None:
        """In which runs are that this broker has gained."""
        for number, written_bytes, dead_bytes in tails:
            self._tails.setdefault(number, _Tail(written_bytes, dead_bytes))
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
            if number in self._tails:
                self._tails[number].dead_bytes += dead_bytes
        self._look()

    def _look(self) -> None:
        full = {one: tail for one, tail in list(self._tails.items()) if one != self.current}
        self.unused = tuple(one for one in full if not self._runs.are_in(one))
        # Of those that are current ones of other brokers nothing is counted yet.
        used = {
            one: tail for one, tail in full.items() if tail.written_bytes and self._runs.are_in(one)
        }
        dead_bytes = sum(tail.dead_bytes for tail in used.values())
        live_bytes = sum(tail.live_bytes for tail in used.values())
        self.sparse = None
        if dead_bytes > live_bytes + _DEAD_TAILS * self._most_bytes:
            self.sparse = min(used, key=lambda one: used[one].live_part)

    def forget(self, number: int) -> None:
        """It was dropped. From any thread."""
        self._tails.pop(number, None)
        self.unused = tuple(one for one in self.unused if one != number)
