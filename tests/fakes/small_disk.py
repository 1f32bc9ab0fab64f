"""A small file system of its own, which can be full."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

needs_a_mount = pytest.mark.skipif(
    os.getuid() != 0 or shutil.which("unshare") is None,
    reason="a mount namespace takes root and unshare",
)


@contextmanager
def small_disk(folder: Path, size_mib: int) -> Iterator[Path]:
    """The path of the disk, as seen through the process that has mounted it at this folder."""
    mount = f'mount -t tmpfs -o size={size_mib}m tmpfs "$0" && echo mounted && exec cat'
    with subprocess.Popen(
        ["unshare", "--mount", "sh", "-c", mount, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "mounted\n"
        yield Path(f"/proc/{holder.pid}/root{folder}")


def fill(disk: Path) -> None:
    """Another program takes all that is left."""
    with suppress(OSError), (disk / "other").open("ab", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
