"""How much memory there is: of the machine, or of the container that this runs in."""

from __future__ import annotations

import os
from pathlib import Path

#: Of it, what the JVM of a local Spark may take.
_SHARE = 4
_LEAST_MB, _MOST_MB = 512, 4096
_OF_GROUPS, _OWN_GROUPS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def for_the_jvm_mb() -> int:
    return max(_LEAST_MB, min(whole_mb() // _SHARE, _MOST_MB))


def whole_mb() -> int:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *limits(_OWN_GROUPS, _OF_GROUPS)]) // 2**20


def limits(own: Path, groups: Path) -> list[int]:
    """In bytes, of this process's control group and of those above it; of both versions of them."""
    found = []
    for line in _text(own).splitlines():
        _, _, rest = line.partition(":")
        kinds, _, path = rest.partition(":")
        if not kinds:
            found += _upwards(groups, path, "memory.max")
        elif "memory" in kinds.split(","):
            found += _upwards(groups / "memory", path, "memory.limit_in_bytes")
    return found


def _upwards(top: Path, path: str, name: str) -> list[int]:
    """In a container the path may be that of the machine, which is not there: its top is."""
    below = Path(path.lstrip("/"))
    texts = [_text(top / group / name).strip() for group in (below, *below.parents)]
    return [int(text) for text in texts if text.isdecimal() and int(text) > 0]


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except OSError:  # no such control groups here, or none at all
        return ""
