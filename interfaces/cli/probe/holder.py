"""Which process of this machine listens at a port, where /proc tells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_LISTENS = "0A"
_PROC = Path("/proc")


def holder(port: int, proc: Path = _PROC) -> str | None:
    """`process 123 (python3)`; None: nobody listens, or it is not ours to know."""
    sockets = {f"socket:[{inode}]" for inode in _listening(port, proc)}
    if not sockets:
        return None
    for process in proc.iterdir():
        if process.name.isdigit() and _has_one(process, sockets):
            return f"process {process.name} ({_name(process)})"
    return "a process of another user"


def _listening(port: int, proc: Path) -> Iterator[str]:
    for table in ("net/tcp", "net/tcp6"):
        try:
            lines = (proc / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            local, state, inode = fields[1], fields[3], fields[9]
            if state == _LISTENS and int(local.rpartition(":")[2], 16) == port:
                yield inode


def _has_one(process: Path, sockets: set[str]) -> bool:
    try:
        return any(os.readlink(one) in sockets for one in (process / "fd").iterdir())
    except OSError:
        return False


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text().strip()
    except OSError:
        return "gone meanwhile"
