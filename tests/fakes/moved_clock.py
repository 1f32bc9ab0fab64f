"""The clock of a process, by libfaketime (Debian: faketime)."""

from __future__ import annotations

from pathlib import Path


def library() -> Path | None:
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))
    return found[0] if found else None


def moved_by(file: Path) -> dict[str, str]:
    """Variables of a process whose clock is moved by the seconds in a file, which may change."""
    return {
        "LD_PRELOAD": str(library()),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        "FAKETIME_DISABLE_SHM": "1",
        "NO_FAKE_STAT": "1",
    }
