"""The memory of the machine, or the limit of the control groups that this process runs in."""

from __future__ import annotations

import os
from pathlib import Path

#: The JVM of a local Spark takes a quarter, within bounds.
_SHARE = 4
_LEAST_MB, _MOST_MB = 512, 4096
_OWN_GROUPS, _GROUPS = Path("/proc/self/cgroup"), Path("/sys/fs/cgroup")
#: Controllers in /proc/self/cgroup, of version 2 and 1: the folder of the groups and the file.
_FILES = {"": ("", "memory.max"), "memory": ("memory", "memory.limit_in_bytes")}


def for_the_jvm_mb() -> int:
    return max(_LEAST_MB, min(whole_mb() // _SHARE, _MOST_MB))


def whole_mb(own: Path = _OWN_GROUPS, groups: Path = _GROUPS) -> int:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([machine, *_limits(own, groups)]) // 2**20


def _limits(own: Path, groups: Path) -> list[int]:
    """The limits, in bytes, of the group of this process and of all above it.

    In a container the path may be the machine's: only the top group exists there.
    """
    texts = []
    for line in own.read_text("utf-8").splitlines() if own.exists() else ():
        _, controllers, path = line.split(":", 2)
        if controllers in _FILES:
            folder, name = _FILES[controllers]
            group = Path(path.lstrip("/"))
            files = [groups / folder / each / name for each in (group, *group.parents)]
            texts += [file.read_text("utf-8").strip() for file in files if file.exists()]
    return [int(text) for text in texts if text.isdecimal()]
