"""OpenFiles: descriptors of the files of all logs, at most so many, and their reads."""

from __future__ import annotations

import mmap
import os
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from weakref import WeakSet

from application.ports.log_store import Buffer
from infrastructure.storage.files.cold_reads import ColdReads

_MOST = 1000
#: To map a smaller part costs more than to copy it.
_MAPPED_BYTES = 128 << 10


def most_open_files() -> int:
    """A quarter of what the system allows this process: the rest is for connections."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if limit == resource.RLIM_INFINITY else max(16, min(_MOST, limit // 4))


class OpenFiles:
    __slots__ = (
        *("_descriptors", "_flags", "_living", "_maps", "_most", "_most_maps", "cold"),
        *("read_only", "waits"),
    )

    def __init__(self, most: int, read_only: bool, cold: ColdReads | None = None) -> None:
        #: A map has a descriptor of its own, as long as views of it wait for their client.
        self._most_maps = most // 4
        self._most = most - self._most_maps
        self.read_only = read_only
        self._flags = (os.O_RDONLY if read_only else os.O_RDWR) | os.O_CLOEXEC
        #: In the order of their last use.
        self._descriptors: dict[str, int] = {}
        self._maps: dict[str, mmap.mmap] = {}
        self._living: WeakSet[mmap.mmap] = WeakSet()
        self.cold = cold
        #: Reads of data that is not in memory wait for the disk.
        self.waits = cold is None

    @contextmanager
    def loading_nothing(self) -> Iterator[None]:
        """Reads of what is not in memory raise NotInMemory, and nothing is loaded."""
        if self.cold is None:
            yield
            return
        self.cold.loads = False
        try:
            yield
        finally:
            self.cold.loads = True

    def descriptor(self, path: str, create: int = 0) -> int:
        """Valid until the next call; `create`: os.O_CREAT and the like. Raises OSError."""
        descriptor = self._descriptors.pop(path, -1)
        if create and descriptor >= 0:
            os.close(descriptor)
            descriptor = -1
        if descriptor < 0:
            if len(self._descriptors) >= self._most:
                os.close(self._descriptors.pop(next(iter(self._descriptors))))
            descriptor = os.open(path, self._flags | create, 0o600)
        self._descriptors[path] = descriptor
        return descriptor

    def read(self, path: str, position: int, size_bytes: int) -> bytes:
        """Raises OSError, or NotInMemory."""
        descriptor = self.descriptor(path)
        if self.waits or self.cold is None:
            return os.pread(descriptor, size_bytes, position)
        return self.cold.read(descriptor, path, position, size_bytes)

    def view(self, path: str, position: int, size_bytes: int) -> Buffer:
        """Of a large part of a file: the page cache itself, where the system maps it.

        The part must not change; files may be removed meanwhile, but not become shorter: the
        process would be killed (SIGBUS), as by a page that the disk does not deliver. So it is in
        memory before. Raises OSError, or NotInMemory.
        """
        if self.read_only or self.waits or self.cold is None or size_bytes < _MAPPED_BYTES:
            return self.read(path, position, size_bytes)
        descriptor, end = self.descriptor(path), position + size_bytes
        if self.cold.check(descriptor, path, position, size_bytes):
            file_bytes = os.fstat(descriptor).st_size
            mapped = self._map(path, descriptor, end) if file_bytes >= end else None
            if mapped is not None:
                return memoryview(mapped)[position:end]
        return os.pread(descriptor, size_bytes, position)

    def _map(self, path: str, descriptor: int, end: int) -> mmap.mmap | None:
        """None where there are too many, or no address space."""
        mapped = self._maps.pop(path, None)
        if mapped is None or len(mapped) < end:
            mapped = None
            while self._maps and len(self._living) >= self._most_maps:
                del self._maps[next(iter(self._maps))]
            if len(self._living) >= self._most_maps:
                return None
            try:
                mapped = mmap.mmap(descriptor, 0, prot=mmap.PROT_READ)
            except (OSError, ValueError):
                return None
            self._living.add(mapped)
        self._maps[path] = mapped
        return mapped

    def write(self, path: str, pieces: Sequence[Buffer], position: int, size_bytes: int) -> None:
        """All of it; raises OSError."""
        descriptor = self.descriptor(path)
        written = os.pwritev(descriptor, pieces, position)
        if written < size_bytes:
            # The system says why with the next bytes.
            rest = memoryview(b"".join(pieces))[written:]
            while rest:
                count = os.pwrite(descriptor, rest, position + written)
                written, rest = written + count, rest[count:]

    def make(self, path: str, content: bytes | bytearray = b"") -> None:
        """A new file, in place of any that is there."""
        self.descriptor(path, os.O_CREAT | os.O_TRUNC)
        if content:
            self.write(path, [bytes(content)], 0, len(content))

    def forget(self, path: str) -> None:
        """Of a file that is removed or renamed."""
        descriptor = self._descriptors.pop(path, -1)
        if descriptor >= 0:
            os.close(descriptor)
        # Views of it stay as they are.
        self._maps.pop(path, None)
        if self.cold is not None:
            self.cold.forget(path)

    def forget_below(self, folder: str) -> None:
        known = {*self._descriptors, *self._maps}
        for path in [one for one in known if one.startswith(f"{folder}/")]:
            self.forget(path)

    def close(self) -> None:
        for path in {*self._descriptors, *self._maps}:
            self.forget(path)
        if self.cold is not None:
            self.cold.close()
