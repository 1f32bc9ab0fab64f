"""Tails: how full the tables and objects of entries are, and what becomes of those that are full.

A tail that no run refers to is dropped whole. One slow log would keep many: while more of the full
tails is dead than live, and two tails beyond that, the entries of the one with the least are moved
into the current tail. Retention alone moves nothing: it leaves one tail that is dead in part.

Of a store with objects so many bytes of full tails stay tables; the oldest beyond are sealed: their
entries are written to objects, which are tails, too. Of objects that are mostly dead, and of many
that are small, the entries are written to a new one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import accumulate
from threading import Lock
from time import monotonic
from typing import NamedTuple

from infrastructure.storage.engine import EntryBytes
from infrastructure.storage.errors import StorageDamaged
from infrastructure.storage.postgresql.runs import Runs
from infrastructure.storage.postgresql.server import Rows

#: Of entries; after that a new tail begins.
TAIL_BYTES = 256 << 20
_DEAD_TAILS = 2
#: With more tails they are not looked through in each commit.
_FEW = 500
_LOOK_S = 1.0
#: For each tail: a look takes half a microsecond, on the loop.
_LOOK_S_EACH = 0.0002
#: Of one object.
_SOURCES = 10
_SMALL_OBJECTS = 100

_TAILS = "select n, written, dead, object from ottla_tails where n = any(%s) order by n"
#: No commit counts what is written: after a start it is what its pages take.
_CURRENT = """
    select s.tail, pg_relation_size(c.oid) + pg_relation_size(c.reltoastrelid), t.dead
    from ottla_fences s left join ottla_tails t on t.n = s.tail
    left join pg_class c on c.oid = to_regclass('ottla_tail_' || s.tail)
    where s.node_id = %s
"""
#: By any broker.
_UNUSED = """
    select n, written, dead, object from ottla_tails t
    where deleted is null
    and not exists (select from ottla_fences f where f.tail = t.n or f.session = t.session)
    and not exists (select from ottla_runs r where r.tail = t.n)
"""


class TailRow(NamedTuple):
    number: int
    written_bytes: int
    #: Of entries that are not needed any more.
    dead_bytes: int
    #: Its name; None: it is a table.
    object: str | None


def tail_rows(connection: Rows, numbers: Collection[int]) -> list[TailRow]:
    """Raises psycopg.Error."""
    if not numbers:
        return []
    return [TailRow(*one) for one in connection.execute(_TAILS, (list(numbers),)).fetchall()]


def unused_rows(connection: Rows) -> list[TailRow]:
    """Of brokers that have stopped, too. Raises psycopg.Error."""
    return [TailRow(*one) for one in connection.execute(_UNUSED).fetchall()]


class _Tail:
    __slots__ = ("dead_bytes", "is_joined", "object", "written_bytes")

    def __init__(
        self, written_bytes: int = 0, dead_bytes: int = 0, object_: str | None = None
    ) -> None:
        #: An object that sealing has written, or has found to be full, since the start.
        self.is_joined = False
        self.written_bytes = written_bytes
        self.dead_bytes = dead_bytes
        self.object = object_

    @property
    def live_bytes(self) -> int:
        """Of the current one of another broker only what is dead is known."""
        return max(self.written_bytes - self.dead_bytes, 0)

    @property
    def live_part(self) -> float:
        return self.live_bytes / max(self.written_bytes, 1)


def _oldest(tables: Mapping[int, _Tail], beyond: int) -> Iterator[int]:
    """So many bytes of them, or a tail more."""
    for number in sorted(tables)[:_SOURCES]:
        if beyond <= 0:
            break
        yield number
        beyond -= tables[number].written_bytes


def _tail(row: TailRow) -> _Tail:
    return _Tail(row.written_bytes, row.dead_bytes, row.object)


class Tails:
    """Changed by what commits; by the loop, which gains partitions and forgets tails; and
    by the thread that drops them, which counts again what other brokers have freed.

    The lock is for what changes several of the attributes, or depends on several.
    """

    def __init__(self, runs: Runs, most_bytes: int = TAIL_BYTES) -> None:
        self._runs = runs
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._tails: dict[int, _Tail] = {}
        self._next_look_s = 0.0
        #: Of the broker: all new entries go there.
        self.current = 0
        #: Its entries are to be moved.
        self.sparse: int | None = None
        #: No run refers to them.
        self.unused: tuple[int, ...] = ()
        #: An object to which no run refers yet.
        self._new: int | None = None
        #: None: the store has no objects.
        self.local_bytes: int | None = None
        #: Their entries are to be written to new objects; the first one first.
        self.to_seal: tuple[int, ...] = ()
        #: Small objects that cannot be read.
        self.aside: Collection[int] = ()

    def load(self, connection: Rows, node_id: int) -> None:
        """Raises StorageDamaged or psycopg.Error."""
        found = connection.execute(_CURRENT, (node_id,)).fetchall()
        if found:  # it writes
            [(self.current, written_bytes, dead_bytes)] = found
            if written_bytes is None:
                raise StorageDamaged(f"there is no ottla_tail_{self.current}")
            self._tails[self.current] = _Tail(written_bytes, dead_bytes or 0)
        self.add_known(unused_rows(connection))

    def reload(self, connection: Rows, node_id: int, known: Iterable[TailRow]) -> None:
        """Of a database that has lost commits. Raises StorageDamaged or psycopg.Error."""
        new = Tails(self._runs, self._most_bytes)
        new.load(connection, node_id)
        new.add_known(known)
        with self._lock:
            # The loop may have gained some meanwhile.
            used = {one: tail for one, tail in self._tails.items() if self._runs.are_in(one)}
            self._tails, self.current = used | new._tails, new.current
            self._look()

    def add_known(self, tails: Iterable[TailRow]) -> None:
        """In which runs are that this broker has gained."""
        with self._lock:
            for row in tails:
                self._tails.setdefault(row.number, _tail(row))
            self._look()

    def object_of(self, number: int) -> str | None:
        """Its name; None: it is a table. From any thread."""
        tail = self._tails.get(number)
        return tail.object if tail is not None else None

    @property
    def object_bytes(self) -> int:
        """Of one object, or a piece more: 32 MiB."""
        return max(self._most_bytes // 8, 1)

    @property
    def written_bytes(self) -> int:
        """To the current one. From any thread."""
        with self._lock:
            return self._tails[self.current].written_bytes

    @property
    def is_full(self) -> bool:
        """From any thread."""
        return self.written_bytes >= self._most_bytes

    def begin(self, number: int) -> None:
        with self._lock:
            self._tails[number] = _Tail()
            self.current = number
            self._look()

    def add_object(self, row: TailRow, is_joined: bool = False) -> None:
        """Until `sealed` runs may come to refer to it."""
        tail = _tail(row)
        tail.is_joined = is_joined
        with self._lock:
            self._new = row.number
            self._tails[row.number] = tail

    def joined(self, number: int) -> None:
        """An object that is not to be joined with others."""
        with self._lock:
            if number in self._tails:
                self._tails[number].is_joined = True
            self._look()

    def sealed(self, is_looked_for: bool) -> None:
        """`is_looked_for`: what is to be sealed next."""
        with self._lock:
            self._new = None
            if is_looked_for:
                self._look()

    def add(self, written_bytes: int) -> None:
        with self._lock:
            self._tails[self.current].written_bytes += written_bytes

    def changed(self, dead: Mapping[int, int]) -> None:
        """By a commit, whose runs are put."""
        with self._lock:
            for number, dead_bytes in dead.items():
                if number in self._tails:
                    self._tails[number].dead_bytes += dead_bytes
            if len(self._tails) <= _FEW or monotonic() >= self._next_look_s:
                self._look()

    def _look(self) -> None:
        """With the lock."""
        self._next_look_s = monotonic() + max(_LOOK_S, len(self._tails) * _LOOK_S_EACH)
        full = {one: tail for one, tail in self._tails.items() if one != self.current}
        used = {one: tail for one, tail in full.items() if self._runs.are_in(one)}
        self.unused = tuple(one for one in full if one not in used and one != self._new)
        tables = {one: tail for one, tail in used.items() if tail.object is None}
        self.sparse = next(iter(self._sparse(tables)), None)
        self.to_seal = ()
        if self.local_bytes is not None:
            beyond = sum(tail.written_bytes for tail in tables.values()) - self.local_bytes
            objects = {one: tail for one, tail in used.items() if tail.object is not None}
            self.to_seal = (
                tuple(_oldest(tables, beyond)) or self._many_small(objects) or self._sparse(objects)
            )

    def _many_small(self, objects: Mapping[int, _Tail]) -> tuple[int, ...]:
        """Enough for a large one, or to read: they are read whole, also what is dead."""
        left_bytes, found = self.object_bytes, list[int]()
        read_bytes = 2 * self.object_bytes
        small = (one for one, tail in objects.items() if self._is_small(tail))
        for number in sorted(one for one in small if one not in self.aside):
            found.append(number)
            left_bytes -= objects[number].live_bytes
            read_bytes -= objects[number].written_bytes
            if min(left_bytes, read_bytes) <= 0 or len(found) == _SMALL_OBJECTS:
                return tuple(found)
        return ()

    def _is_small(self, tail: _Tail) -> bool:
        """One that was joined may be small: of many entries it has a part only."""
        is_object = tail.object is not None and not tail.is_joined
        return is_object and tail.written_bytes < self.object_bytes // 4

    def small(self, numbers: Collection[int]) -> dict[int, TailRow]:
        """If they are small objects, all of them. From any thread."""
        found = {}
        for number in numbers:
            tail = self._tails.get(number)
            if tail is None or not self._is_small(tail):
                return {}
            found[number] = TailRow(number, tail.written_bytes, tail.dead_bytes, tail.object)
        return found

    def _sparse(self, tails: Mapping[int, _Tail]) -> tuple[int, ...]:
        """The one with the smallest live part first; enough for an object. None is wholly live: an
        object would be written again and again.
        """
        # Empty ones; and of current ones of other brokers it is not known what is live.
        tails = {one: tail for one, tail in tails.items() if tail.written_bytes}
        dead_bytes = sum(tail.dead_bytes for tail in tails.values())
        live_bytes = sum(tail.live_bytes for tail in tails.values())
        if dead_bytes <= live_bytes + _DEAD_TAILS * self._most_bytes:
            return ()
        dead = [one for one, tail in tails.items() if tail.dead_bytes]
        dead.sort(key=lambda one: tails[one].live_part)
        sizes = accumulate((tails[one].live_bytes for one in dead), initial=0)
        return tuple(
            one
            for one, before in zip(dead[:_SOURCES], sizes, strict=False)
            if before < self.object_bytes
        )

    def sizes(self) -> EntryBytes:
        """From any thread."""
        tails = list(self._tails.values())
        return EntryBytes(
            sum(tail.live_bytes for tail in tails if tail.object is None),
            sum(tail.live_bytes for tail in tails if tail.object is not None),
        )

    def known(self) -> list[int]:
        """From any thread."""
        return list(self._tails)

    def count_again(self, rows: Iterable[TailRow]) -> None:
        """Other brokers free entries of the same tails, too, and fill their current ones.

        A commit of this broker that is persisted and not yet counted here counts twice, or not at
        all, until the next time.
        """
        with self._lock:
            for row in rows:
                tail = self._tails.get(row.number)
                if tail is not None:
                    # Of a current one the row has none yet.
                    tail.written_bytes = max(tail.written_bytes, row.written_bytes)
                    tail.dead_bytes = row.dead_bytes
            self._look()

    def forget(self, number: int) -> None:
        """It was dropped, or others need it. From any thread."""
        with self._lock:
            if number != self.current and not self._runs.are_in(number):
                self._tails.pop(number, None)
            self.unused = tuple(one for one in self.unused if one != number)
