"""A small file system of its own, which can be full, or become read-only."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest


def can_mount() -> bool:
    return os.getuid() == 0 and shutil.which("unshare") is not None


needs_a_mount = pytest.mark.skipif(
    not can_mount(), reason="a mount namespace takes root and unshare"
)


needs_a_loop_device = pytest.mark.skipif(
    os.getuid() != 0
    or not (Path("/dev/loop-control").exists() and Path("/sys/fs/ext4").exists())
    or any(shutil.which(program) is None for program in ("unshare", "mkfs.ext4", "e2fsck")),
    reason="ext4 on a loop device takes root, unshare and e2fsprogs",
)


@contextmanager
def mounted(*arguments: str) -> Iterator[int]:
    """The process that has mounted it in a mount namespace of its own."""
    with subprocess.Popen(
        [
            "unshare",
            "--mount",
            "sh",
            "-c",
            'mount "$@" && echo mounted && exec cat',
            "",
            *arguments,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == "mounted\n"
        yield holder.pid


@contextmanager
def small_disk(folder: Path, size_mib: int) -> Iterator[Path]:
    """The path of the disk, as seen through the process that has mounted it at this folder."""
    with mounted_tmpfs(folder, size_mib) as pid:
        yield Path(f"/proc/{pid}/root{folder}")


def mounted_tmpfs(folder: Path, size_mib: int) -> AbstractContextManager[int]:
    return mounted("-t", "tmpfs", "-o", f"size={size_mib}m", "tmpfs", str(folder))


class Ext4Disk:
    """Becomes read-only after its first error, as usual on servers."""

    def __init__(self, pid: int, image: Path, folder: Path) -> None:
        self._pid, self._image, self._folder = pid, image, folder
        self.path = Path(f"/proc/{pid}/root{folder}")

    def become_read_only(self) -> None:
        device = self._run("findmnt", "-n", "-o", "SOURCE", self._folder).strip()
        Path(f"/sys/fs/ext4/{Path(device).name}/trigger_fs_error").write_text("of a test")

    def repair(self) -> None:
        """No process may have a file open."""
        self._run("umount", self._folder)
        run("e2fsck", "-p", "-f", self._image, codes=(0, 1))
        self._run("mount", "-o", "loop", self._image, self._folder)

    def _run(self, *words: str | Path) -> str:
        return run("nsenter", "--mount", "--target", str(self._pid), *words)


@contextmanager
def ext4_disk(folder: Path, size_mib: int) -> Iterator[Ext4Disk]:
    image, mount_point = folder / "image", folder / "mounted"
    mount_point.mkdir()
    with image.open("wb") as file:
        file.truncate(size_mib << 20)
    run("mkfs.ext4", "-q", "-e", "remount-ro", image)
    with mounted("-o", "loop", str(image), str(mount_point)) as pid:
        yield Ext4Disk(pid, image, mount_point)


def run(*words: str | Path, codes: tuple[int, ...] = (0,)) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in codes, done
    return done.stdout


def fill(disk: Path) -> None:
    """Another program takes all that is left."""
    with suppress(OSError), (disk / "other").open("ab", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


def free(disk: Path) -> None:
    (disk / "other").unlink()
