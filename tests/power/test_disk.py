"""The recorder sees all calls of a program, and the disk preserves exactly what syncs promise."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.power.disk import PAGE, SECTOR, Disk, with_ends_of_synced_writes
from tests.power.recording import CREATED, SYNCED, Event, build_recorder, compiler, read_trace

ROOT = "/disk"
FILE = 1
FOLDER = 2


def disk_with(*events: Event) -> Disk:
    disk = Disk(ROOT)
    start = [
        Event("O", FOLDER, 0, b"/disk"),
        Event("O", FILE, CREATED, b"/disk/file"),
        *synced(FOLDER),
    ]
    for event in with_ends_of_synced_writes([*start, *events]):
        disk.apply(event)
    return disk


def written(offset: int, data: bytes, file: int = FILE) -> Event:
    return Event("W", file, offset, data)


def synced(file: int = FILE) -> list[Event]:
    return [Event("S", file, 0, b""), Event("s", file, 0, b"")]


def left_by(disk: Disk, tmp_path: Path, cuts: int = 200) -> set[bytes | None]:
    """Contents of the file after so many power cuts."""
    found: set[bytes | None] = set()
    for seed in range(cuts):
        folder = tmp_path / str(seed)
        folder.mkdir()
        disk.cut(folder, random.Random(seed))
        file = folder / "file"
        found.add(file.read_bytes() if file.exists() else None)
    return found


def test_synced_writes_are_durable(tmp_path: Path) -> None:
    disk = disk_with(written(0, b"a" * 10_000), *synced())

    assert left_by(disk, tmp_path) == {b"a" * 10_000}


def test_unsynced_writes_may_be_lost(tmp_path: Path) -> None:
    disk = disk_with(written(0, b"a" * PAGE), *synced(), written(0, b"b" * PAGE))

    left = left_by(disk, tmp_path)

    assert {b"a" * PAGE, b"b" * PAGE} < left
    torn = left - {b"a" * PAGE, b"b" * PAGE, None}
    assert torn
    for content in torn:
        assert content is not None
        sectors = {content[at : at + SECTOR] for at in range(0, PAGE, SECTOR)}
        assert sectors == {b"a" * SECTOR, b"b" * SECTOR}


def test_a_later_page_may_be_written_without_an_earlier_one(tmp_path: Path) -> None:
    disk = disk_with(
        written(0, bytes(2 * PAGE)),
        *synced(),
        written(0, b"1" * PAGE),
        written(PAGE, b"2" * PAGE),
    )

    assert {bytes(PAGE) + b"2" * PAGE, b"1" * PAGE + bytes(PAGE)} <= left_by(disk, tmp_path)


def test_a_version_between_two_writes_may_be_left(tmp_path: Path) -> None:
    writes = [written(0, bytes([number]) * PAGE) for number in (1, 2, 3)]
    disk = disk_with(written(0, bytes(PAGE)), *synced(), *writes)

    assert {bytes([number]) * PAGE for number in (0, 1, 2, 3)} <= left_by(disk, tmp_path)


def test_writes_during_a_sync_are_not_covered_by_it(tmp_path: Path) -> None:
    begin, end = synced()
    disk = disk_with(written(0, b"1" * PAGE), begin, written(0, b"2" * PAGE), end)

    left = left_by(disk, tmp_path)

    assert {b"1" * PAGE, b"2" * PAGE} <= left
    assert not any(content is None or b"\0" in content for content in left)


def test_a_write_through_a_synced_descriptor_is_durable_alone(
    tmp_path: Path,
) -> None:
    through = 3
    disk = disk_with(
        written(0, bytes(2 * PAGE)),
        *synced(),
        Event("O", through, SYNCED, b"/disk/file"),
        written(0, b"1" * PAGE),
        written(PAGE, b"root", through),
    )

    left = left_by(disk, tmp_path)

    assert {content[PAGE:][:4] for content in left if content} == {b"root"}
    assert {bytes(PAGE), b"1" * PAGE} <= {content[:PAGE] for content in left if content}


def test_a_file_that_grew_may_be_short_or_hold_zeros(tmp_path: Path) -> None:
    disk = disk_with(written(0, b"a" * PAGE), *synced(), written(PAGE, b"b" * PAGE))

    left = left_by(disk, tmp_path)

    assert {b"a" * PAGE, b"a" * PAGE + bytes(PAGE), b"a" * PAGE + b"b" * PAGE} <= left


def test_a_name_is_durable_after_the_sync_of_its_folder_only(tmp_path: Path) -> None:
    disk = Disk(ROOT)
    for event in [
        Event("O", FILE, CREATED, b"/disk/file"),
        written(0, b"a"),
        *synced(),
    ]:
        disk.apply(event)

    assert left_by(disk, tmp_path) == {None, b"a"}


def test_a_removed_file_may_still_exist(tmp_path: Path) -> None:
    disk = disk_with(written(0, b"a"), *synced(), Event("U", 0, 0, b"/disk/file\0"))

    assert left_by(disk, tmp_path) == {None, b"a"}


_PROGRAM = """
import os, sys
disk, marks = sys.argv[1:]
mark = os.open(marks, os.O_WRONLY | os.O_CREAT)
os.mkdir(disk + "/folder")
file = os.open(disk + "/folder/file", os.O_RDWR | os.O_CREAT)
os.write(file, b"one")
os.write(mark, b"a mark")
os.pwritev(file, [b"two", b"three"], 100)
os.fsync(file)
os.ftruncate(file, 50)
through = os.open(disk + "/folder/file", os.O_RDWR | os.O_DSYNC)
os.pwrite(through, b"four", 7)
os.close(file)
elsewhere = os.open(marks + ".other", os.O_RDWR | os.O_CREAT)
assert elsewhere == file
os.write(elsewhere, b"not ours")
os.rename(disk + "/folder/file", disk + "/folder/new")
os.unlink(disk + "/folder/new")
"""


@pytest.mark.skipif(
    compiler() is None or sys.platform != "linux", reason="needs Linux and a C compiler (cc or gcc)"
)
def test_the_recorder_records_each_call_in_order(tmp_path: Path) -> None:
    disk, marks, trace = tmp_path / "disk", tmp_path / "marks", tmp_path / "trace"
    disk.mkdir()
    subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(disk), str(marks)],
        env={
            "LD_PRELOAD": str(build_recorder(tmp_path)),
            "POWER_FOLDER": str(disk),
            "POWER_MARKS": str(marks),
            "POWER_TRACE": str(trace),
        },
        check=True,
    )

    folder, file = f"{disk}/folder".encode(), f"{disk}/folder/file".encode()
    assert list(read_trace(trace)) == [
        Event("D", 0, 0, folder + b"\0"),
        Event("O", 1, CREATED, file),
        Event("W", 1, 0, b"one"),
        Event("M", -1, 0, b"a mark"),
        Event("W", 1, 100, b"twothree"),
        Event("S", 1, 0, b""),
        Event("s", 1, 0, b""),
        Event("T", 1, 50, b""),
        Event("O", 2, SYNCED, file),
        Event("W", 2, 7, b"four"),
        Event("R", 0, 0, file + b"\0" + folder + b"/new"),
        Event("U", 0, 0, folder + b"/new\0"),
    ]
