"""PageLoader: loads pages that are not in memory, in one thread, so that the loop never waits.

The loader remembers which pages are in memory: those that this process wrote lately, and those that
the thread loaded. Any other read goes through the thread, which moves a cursor over the
entries: py-lmdb touches each of their pages without the interpreter's lock. Its read transactions
end after a megabyte, and before the map grows or is closed. See docs/internals/adr/0013.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import lmdb

from application.ports.log_store import Buffer
from application.ports.pending import Pending
from infrastructure.storage.lmdb.keys import KEY, OFFSET
from infrastructure.storage.lmdb.parts import further_bytes
from infrastructure.storage.loading_thread import LoadingThread, resolve_all

if TYPE_CHECKING:
    from lmdb import _Database

#: Of all that is written and loaded, the newest one or two times this is taken to be in memory.
RECENT_BYTES = 512 << 20
#: How far to load ahead of a client that reads a log in order, doubled with each step.
FIRST_AHEAD_BYTES = 1 << 20
MAX_AHEAD_BYTES = 8 << 20
#: What is assumed of a read that asks for less, or for more.
LEAST_READ_BYTES = 64 << 10
MOST_READ_BYTES = 64 << 20
#: While others produce, a read of an old log gives no more than this: to send a megabyte takes the
#: loop longer than a commit, and a client that reads an old log asks again at once.
MOST_BESIDE_PRODUCERS_BYTES = 128 << 10
#: After so many reads without a write no client is assumed to produce.
_READS_WITHOUT_WRITE = 1000
#: In one read transaction.
_PIECE_BYTES = 1 << 20
#: Clients at different places of one partition that are remembered.
_RANGES_PER_PARTITION = 16
#: Of a partition of which nothing is known to be in memory.
NO_OFFSET = 1 << 64

_pack_key = KEY.pack
_key_from = KEY.unpack_from


class LoadedRange:
    """Consecutive entries that were loaded for one client. The thread's while it is `loading`."""

    __slots__ = (
        "ahead_bytes", "begun", "end", "generation", "loading", "margin", "margin_bytes", "middle",
        "next", "partition_id", "read_bytes", "start", "to_the_end", "waiting",
    )  # fmt: skip

    def __init__(self, partition_id: int, start: int, read_bytes: int, generation: int) -> None:
        self.partition_id = partition_id
        self.read_bytes = read_bytes
        #: A read of `read_bytes` that begins in [start, end) finds all of it in memory.
        self.start = self.end = start
        #: From here on it is time to load more, and from `next` on.
        self.middle = self.next = start
        self.ahead_bytes = 0
        #: Where each entry from `end` to `next` ends, and its size.
        self.margin: deque[tuple[int, int]] = deque()
        self.margin_bytes = 0
        self.to_the_end = False
        #: When `start` was loaded, and when the newest was.
        self.begun = self.generation = generation
        self.loading = False
        self.waiting: list[Pending[None]] = []

    def add(self, last_offset: int, size_bytes: int) -> None:
        self.next = last_offset + 1
        self.margin.append((self.next, size_bytes))
        self.margin_bytes += size_bytes

    def give_up(self) -> None:
        """The loop's own read gets the same error, and reports it."""
        self.margin.clear()
        self.margin_bytes = 0
        self.next += 1
        self.end = self.next

    def advance(self, generation: int) -> None:
        """Moves `end` as far as what follows it suffices for a read; `start` when it is too old."""
        passed = [self.end]
        margin = self.margin
        while margin and self.margin_bytes - margin[0][1] >= self.read_bytes:
            end, size_bytes = margin.popleft()
            passed.append(end)
            self.margin_bytes -= size_bytes
        if generation > self.begun + 1:
            self.start, self.begun = self.end, generation
        self.middle, self.end = passed[len(passed) // 2], passed[-1]


class PageLoader:
    __slots__ = (
        "_batches", "_env", "_generation", "_ranges", "_reads_since_write", "_recent_bytes",
        "_thread", "_written_from", "lock", "memory_from",
    )  # fmt: skip

    def __init__(
        self,
        env: lmdb.Environment,
        batches: _Database,
        to_loop: Callable[[Callable[[], None]], object],
    ) -> None:
        self._env = env
        self._batches = batches
        #: By partition id: the offset from which on everything is in memory.
        self.memory_from: dict[int, int] = {}
        #: The same, of what was written or loaded in this generation.
        self._written_from: dict[int, int] = {}
        self._ranges: dict[int, list[LoadedRange]] = {}
        self._recent_bytes = 0
        self._reads_since_write = _READS_WITHOUT_WRITE
        self._generation = 0
        self._thread = LoadingThread(self._touch, self._loaded, to_loop)
        #: Held while the thread has a read transaction: the map may not change then.
        self.lock = threading.Lock()

    # ---- the loop's side

    def written(self, partition_id: int, entry: Buffer) -> None:
        self._reads_since_write = 0
        if partition_id not in self._written_from:
            self._in_memory_from(partition_id, *OFFSET.unpack_from(entry))
        self._grow_older(len(entry))

    def rewritten(self, size_bytes: int) -> None:
        """Entries in the middle of a log: what follows them need not be in memory."""
        self._grow_older(size_bytes)

    def _in_memory_from(self, partition_id: int, offset: int) -> None:
        for offsets in (self._written_from, self.memory_from):
            offsets[partition_id] = min(offset, offsets.get(partition_id, NO_OFFSET))

    def _grow_older(self, size_bytes: int) -> None:
        self._recent_bytes += size_bytes
        if self._recent_bytes >= RECENT_BYTES:
            self._begin_generation()

    def _begin_generation(self) -> None:
        self._recent_bytes = 0
        self._generation += 1
        self.memory_from.clear()
        self.memory_from.update(self._written_from)
        self._written_from.clear()
        for partition_id, ranges in list(self._ranges.items()):
            ranges[:] = [r for r in ranges if r.loading or r.generation + 1 >= self._generation]
            if not ranges:
                del self._ranges[partition_id]

    def limited(self, read_bytes: int) -> int:
        """How much of what has to be loaded a read may ask for."""
        self._reads_since_write += 1
        if self._reads_since_write > _READS_WITHOUT_WRITE:
            return read_bytes
        return min(read_bytes, MOST_BESIDE_PRODUCERS_BYTES)

    def load(self, partition_id: int, offset: int, read_bytes: int) -> Pending[None] | None:
        """For an offset below `memory_from`. None: read now."""
        read_bytes = min(max(read_bytes, LEAST_READ_BYTES), MOST_READ_BYTES)
        range_ = self._range(partition_id, offset, read_bytes)
        if offset < range_.end:
            if offset >= range_.middle:
                self._begin_to_load(range_)
            return None
        if not self._begin_to_load(range_):
            return None
        loading: Pending[None] = Pending()
        range_.waiting.append(loading)
        return loading

    def loaded_bytes(self, partition_id: int, offset: int) -> int:
        """The largest read from `offset` for which `load` returns None; 0: there is none."""
        known = self._ranges.get(partition_id, ())
        return max((r.read_bytes for r in known if r.start <= offset < r.end), default=0)

    def in_memory_to(self, partition_id: int, offset: int) -> int:
        """The end of the entries in memory, after `load` returned None for `offset`."""
        known = self._ranges.get(partition_id, [])
        return max((r.next for r in known if r.start <= offset < r.end), default=NO_OFFSET)

    def _range(self, partition_id: int, offset: int, read_bytes: int) -> LoadedRange:
        """A client that reads in order comes back where its last read may have ended."""
        ranges = self._ranges.setdefault(partition_id, [])
        for known in ranges:
            if known.start <= offset <= known.next and read_bytes <= known.read_bytes:
                return known
        if len(ranges) >= _RANGES_PER_PARTITION:
            # Never one that a client waits for: with more clients each would evict the next.
            oldest = next((one for one in ranges if not one.loading), None)
            if oldest is not None:
                ranges.remove(oldest)
        made = LoadedRange(partition_id, offset, read_bytes, self._generation)
        ranges.append(made)
        return made

    def _begin_to_load(self, range_: LoadedRange) -> bool:
        """False where there is no thread for it."""
        if not range_.loading:
            if not self._thread.put(range_):
                return False
            range_.loading = True
        return True

    def _loaded(self, range_: LoadedRange, size_bytes: int) -> None:
        range_.loading = False
        range_.generation = self._generation
        range_.ahead_bytes = max(
            min(max(2 * range_.ahead_bytes, FIRST_AHEAD_BYTES), MAX_AHEAD_BYTES), range_.read_bytes
        )
        if range_.to_the_end:
            self._in_memory_from(range_.partition_id, range_.start)
            ranges = self._ranges.get(range_.partition_id, [])
            ranges[:] = [one for one in ranges if one.start < range_.start]
        self._grow_older(size_bytes)
        waiting, range_.waiting = range_.waiting, []
        resolve_all(waiting)

    def close(self) -> None:
        self._thread.close()

    # ---- the thread's side

    def _touch(self, range_: LoadedRange) -> int:
        """Returns how much was loaded."""
        size_bytes = 0
        # At first the entry that a read begins in, and as much again as the read may ask for.
        ahead_bytes = range_.ahead_bytes or range_.read_bytes
        try:
            if not range_.ahead_bytes:
                self._touch_piece(range_, 0)
            while size_bytes < ahead_bytes and not range_.to_the_end and not self._thread.closed:
                size_bytes += self._touch_piece(range_, min(_PIECE_BYTES, ahead_bytes))
        except Exception:
            range_.give_up()
        else:
            range_.advance(self._generation)
        return size_bytes

    def _touch_piece(self, range_: LoadedRange, piece_bytes: int) -> int:
        size_bytes = 0
        with self.lock, self._env.begin(buffers=True) as txn:
            cursor = txn.cursor(self._batches)
            if cursor.set_range(_pack_key(range_.partition_id, range_.next)):
                entry_bytes = missing_bytes = 0
                for key, part in cursor:
                    partition_id, last_offset = _key_from(key)
                    if partition_id != range_.partition_id:
                        break
                    entry_bytes += len(part)
                    if missing_bytes:
                        missing_bytes = max(0, missing_bytes - len(part))
                    else:
                        missing_bytes = further_bytes(part)
                    if missing_bytes:
                        continue
                    range_.add(last_offset, entry_bytes)
                    size_bytes += entry_bytes
                    entry_bytes = 0
                    if size_bytes >= piece_bytes:
                        return size_bytes
        range_.to_the_end = True
        return size_bytes
