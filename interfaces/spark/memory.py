"""The memory of the machine, or the limit of the container that this process runs in."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

#: The JVM of a local Spark takes a quarter, within bounds.
_SHARE = 4
_LEAST_MB, _MOST_MB = 512, 4096
#: A container sees its own control group here, of version 2 or 1.
_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def for_the_jvm_mb() -> int:
    return max(_LEAST_MB, min(whole_mb() // _SHARE, _MOST_MB))


def whole_mb(files: Iterable[Path] = _LIMITS) -> int:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [file.read_text("utf-8").strip() for file in files if file.exists()]
    return min([machine, *(int(limit) for limit in limits if limit.isdecimal())]) // 2**20
