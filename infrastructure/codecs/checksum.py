"""CRC-32C: one C function behind the port, so that another library is one line.

It reads bytes, bytearray and memoryview without a copy. The function is taken from the package's C
module: the package itself looks up its own version when it is imported, and for that loads
importlib.metadata, email and zipfile, which cost every start of the broker tens of milliseconds.
"""

from __future__ import annotations

from importlib.machinery import PathFinder
from importlib.util import module_from_spec

from application.ports.checksum import Checksum


def _load() -> Checksum:
    package = PathFinder.find_spec("crc32c")
    if package is not None:
        spec = PathFinder.find_spec("crc32c._crc32c", package.submodule_search_locations)
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            found: Checksum = module.crc32c
            return found
    from crc32c import crc32c as imported

    return imported


crc32c = _load()
