"""ColdReads: reads of data that is not in the page cache wait in a thread, not on the loop.

The system is asked for single bytes of the range, without waiting (RWF_NOWAIT). Where it cannot
tell, all reads wait on the loop.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from application.ports.log_store import NotInMemory
from application.ports.pending import Pending
from infrastructure.storage.loading_thread import LoadingThread, resolve_all

#: A smaller gap between the bytes that are asked for is read on the loop.
_PROBE_BYTES = 256 << 10
#: Loaded at once, and again when a reader has come to the middle of it.
AHEAD_BYTES = 8 << 20
_PIECE_BYTES = 1 << 20
#: What is remembered of files and loads: it only saves a question.
_MOST_KNOWN = 1000
#: A read of so much is its own question.
_AT_ONCE_BYTES = 64 << 10
_PROBE = bytearray(1)
_NO_ANSWER = errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS


class _Load(NamedTuple):
    path: str
    start: int
    end: int


class ColdReads:
    __slots__ = ("_ahead", "_can_ask", "_just_loaded", "_thread", "_waiting", "loads")

    def __init__(self, to_loop: Callable[[Callable[[], None]], object]) -> None:
        self._thread = LoadingThread(_touch, self._loaded, to_loop)
        self._can_ask = hasattr(os, "RWF_NOWAIT")
        self._waiting: dict[_Load, list[Pending[None]]] = {}
        #: The end of the newest load of each file.
        self._ahead: dict[str, int] = {}
        #: Read without asking, once: memory may be so scarce that it is gone again. False: the
        #: disk did not deliver it.
        self._just_loaded: dict[tuple[str, int], bool] = {}
        #: False: what is not in memory stays there.
        self.loads = True

    def read(self, descriptor: int, path: str, position: int, size_bytes: int) -> bytes:
        """Raises OSError, or NotInMemory."""
        if size_bytes <= _AT_ONCE_BYTES and self._can_ask:
            data = bytearray(size_bytes)
            with suppress(OSError):  # `check` says what it is
                if os.preadv(descriptor, [data], position, os.RWF_NOWAIT) == size_bytes:
                    if self._just_loaded:
                        self._just_loaded.pop((path, position), None)
                    self._load_ahead(path, position + size_bytes)
                    return bytes(data)
        self.check(descriptor, path, position, size_bytes)
        return os.pread(descriptor, size_bytes, position)

    def check(self, descriptor: int, path: str, position: int, size_bytes: int) -> bool:
        """Raises NotInMemory. False: the system cannot tell, or the disk did not deliver it.

        Bytes that do not exist count as being in memory.
        """
        if not self._can_ask:
            return False
        loaded = self._just_loaded.pop((path, position), None)
        if loaded is not None:
            return loaded
        end = position + size_bytes
        probe, flag = [_PROBE], os.RWF_NOWAIT
        at = position
        try:
            while at < end - 1:
                os.preadv(descriptor, probe, at, flag)
                at += _PROBE_BYTES
            os.preadv(descriptor, probe, end - 1, flag)
        except BlockingIOError:
            self._load_and_wait(path, position, end)
            return False
        except OSError as error:
            if error.errno not in _NO_ANSWER:
                raise
            self._can_ask = False
            return False
        self._load_ahead(path, end)
        return True

    def _load_ahead(self, path: str, end: int) -> None:
        ahead = self._ahead.get(path, 0)
        if self.loads and ahead - AHEAD_BYTES // 2 < end <= ahead:
            self._load(_Load(path, ahead, ahead + AHEAD_BYTES // 2))

    def _load_and_wait(self, path: str, position: int, end: int) -> None:
        if not self.loads:
            raise NotInMemory(Pending())
        load = _Load(path, position, max(end, position + AHEAD_BYTES))
        if self._load(load):
            loading: Pending[None] = Pending()
            self._waiting[load].append(loading)
            raise NotInMemory(loading)

    def _load(self, load: _Load) -> bool:
        """False where there is no thread for it."""
        if load in self._waiting:
            return True
        if not self._thread.put(load):
            return False
        self._waiting[load] = []
        if len(self._ahead) >= _MOST_KNOWN:
            self._ahead.clear()
        self._ahead[load.path] = load.end
        return True

    def _loaded(self, load: _Load, delivered: bool) -> None:
        waiting = self._waiting.pop(load)
        if not waiting:
            return
        if len(self._just_loaded) >= _MOST_KNOWN:  # by readers that did not come back
            self._just_loaded.clear()
        self._just_loaded[load.path, load.start] = delivered
        resolve_all(waiting)

    def forget(self, path: str) -> None:
        self._ahead.pop(path, None)
        for one in [one for one in self._just_loaded if one[0] == path]:
            del self._just_loaded[one]

    def close(self) -> None:
        self._thread.close()


def _touch(load: _Load) -> bool:
    """In the thread. False: the disk did not deliver it; the loop's own read reports it."""
    with suppress(Exception):
        descriptor = os.open(load.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            for position in range(load.start, load.end, _PIECE_BYTES):
                if not os.pread(descriptor, min(_PIECE_BYTES, load.end - position), position):
                    break
        finally:
            os.close(descriptor)
        return True
    return False
