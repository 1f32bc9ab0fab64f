"""OpenFiles: descriptors of the files of all logs, at most so many, and their reads."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence

from application.ports.log_store import Buffer
from infrastructure.storage.files.cold_reads import ColdReads

_MOST = 1000


def most_open_files() -> int:
    """A quarter of what the system allows this process: the rest is for connections."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if limit == resource.RLIM_INFINITY else max(16, min(_MOST, limit // 4))


class OpenFiles:
    __slots__ = ("_descriptors", "_flags", "_most", "cold", "read_only", "waits")

    def __init__(self, most: int, read_only: bool, cold: ColdReads | None = None) -> None:
        self._most = most
        self.read_only = read_only
        self._flags = (os.O_RDONLY if read_only else os.O_RDWR) | os.O_CLOEXEC
        #: In the order of their last use.
        self._descriptors: dict[str, int] = {}
        self.cold = cold
        #: Reads of data that is not in memory wait for the disk.
        self.waits = cold is None

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
        if not self.waits and self.cold is not None:
            self.cold.check(descriptor, path, position, size_bytes)
        return os.pread(descriptor, size_bytes, position)

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
        if self.cold is not None:
            self.cold.forget(path)

    def forget_below(self, folder: str) -> None:
        for path in [one for one in self._descriptors if one.startswith(f"{folder}/")]:
            self.forget(path)

    def close(self) -> None:
        for path in list(self._descriptors):
            self.forget(path)
        if self.cold is not None:
            self.cold.close()
