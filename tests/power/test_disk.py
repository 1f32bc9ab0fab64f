"""The recorder sees all calls of a program, and the disk preserves exactly what syncs promise."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.power.disk import PAGE, SECTOR, Disk, with_ends_of_synced_writes
from tests.power.recording import (
    CREATED,
    SYNCED,
    TRUNCATED,
    Event,
    build_recorder,
    compiler,
    read_trace,
)

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


def tree_left_by(disk: Disk, tmp_path: Path, cuts: int = 200) -> set[frozenset[str]]:
    """The files after so many power cuts, each with its content."""
    found = set()
    for seed in range(cuts):
        folder = tmp_path / str(seed)
        disk.cut(folder, random.Random(seed))
        files = (path for path in folder.rglob("*") if path.is_file())
        found.add(frozenset(f"{one.relative_to(folder)}={one.read_text()}" for one in files))
    return found


def named(kind: str, *names: str) -> Event:
    return Event(kind, 0, 0, "\0".join([*names, ""][:2]).encode())


def all_synced() -> list[Event]:
    return [Event("F", FOLDER, 0, b""), Event("f", FOLDER, 0, b"")]


IN_FOLDER = [
    named("D", "/disk/a"),
    Event("O", 3, CREATED, b"/disk/a/one"),
    written(0, b"1", 3),
]


def test_a_sync_of_all_makes_files_and_names_durable(tmp_path: Path) -> None:
    disk = disk_with(written(0, b"0"), *IN_FOLDER, *all_synced())

    assert tree_left_by(disk, tmp_path) == {frozenset({"file=0", "a/one=1"})}


def test_what_follows_the_begin_of_a_sync_of_all_is_not_part_of_it(tmp_path: Path) -> None:
    begin, end = all_synced()
    disk = disk_with(*IN_FOLDER, begin, named("U", "/disk/a/one"), named("U", "/disk/file"), end)

    assert tree_left_by(disk, tmp_path) == {
        frozenset({"file=", "a/one=1"}),
        frozenset({"file="}),
        frozenset(),
    }


def test_a_renamed_folder_keeps_its_files_under_either_name(tmp_path: Path) -> None:
    disk = disk_with(*IN_FOLDER, *all_synced(), named("R", "/disk/a", "/disk/b"))

    assert tree_left_by(disk, tmp_path) == {
        frozenset({"file=", "a/one=1"}),
        frozenset({"file=", "b/one=1"}),
    }


def test_a_file_that_is_open_while_its_folder_is_renamed_is_written(tmp_path: Path) -> None:
    disk = disk_with(
        *IN_FOLDER, named("R", "/disk/a", "/disk/b"), written(0, b"2", 3), *all_synced()
    )

    assert tree_left_by(disk, tmp_path) == {frozenset({"file=", "b/one=2"})}


def test_changes_of_names_arrive_in_their_order(tmp_path: Path) -> None:
    disk = disk_with(
        *IN_FOLDER,
        *all_synced(),
        named("R", "/disk/a/one", "/disk/a/two"),
        named("L", "/disk/a/two", "/disk/a/three"),
        named("U", "/disk/a/two"),
    )

    assert tree_left_by(disk, tmp_path) == {
        frozenset({"file=", "a/one=1"}),
        frozenset({"file=", "a/two=1"}),
        frozenset({"file=", "a/two=1", "a/three=1"}),
        frozenset({"file=", "a/three=1"}),
    }


def test_a_truncation_by_path_may_be_lost(tmp_path: Path) -> None:
    disk = disk_with(written(0, b"a" * PAGE), *all_synced(), Event("P", 0, SECTOR, b"/disk/file"))

    left = left_by(disk, tmp_path)

    assert {b"a" * PAGE, b"a" * SECTOR} <= left


def test_files_lose_their_writes_each_in_its_own_way(tmp_path: Path) -> None:
    disk = disk_with(
        *IN_FOLDER, *all_synced(), written(0, b"2", 3), written(0, b"2"), *synced(FOLDER)
    )

    found = tree_left_by(disk, tmp_path)

    assert frozenset({"file=", "a/one=2"}) in found
    assert frozenset({"file=2", "a/one=1"}) in found


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


needs_a_recorder = pytest.mark.skipif(
    compiler() is None or sys.platform != "linux", reason="needs Linux and a C compiler (cc or gcc)"
)


def recorded(program: str, tmp_path: Path) -> list[Event]:
    disk, marks, trace = tmp_path / "disk", tmp_path / "marks", tmp_path / "trace"
    disk.mkdir()
    subprocess.run(
        [sys.executable, "-c", program, str(disk), str(marks)],
        env={
            "LD_PRELOAD": str(build_recorder(tmp_path)),
            "POWER_FOLDER": str(disk),
            "POWER_MARKS": str(marks),
            "POWER_TRACE": str(trace),
        },
        check=True,
    )
    return list(read_trace(trace))


@needs_a_recorder
def test_the_recorder_records_each_call_in_order(tmp_path: Path) -> None:
    events = recorded(_PROGRAM, tmp_path)

    disk = tmp_path / "disk"
    folder, file = f"{disk}/folder".encode(), f"{disk}/folder/file".encode()
    assert events == [
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


_FOLDERS = """
import ctypes, os, shutil, sys
disk = sys.argv[1]
os.makedirs(disk + "/folder/sub")
file = os.open(disk + "/folder/sub/file", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.link(disk + "/folder/sub/file", disk + "/folder/link")
os.truncate(disk + "/folder/link", 9)
os.rename(disk + "/folder", disk + "/moved")
os.pwrite(file, b"later", 0)
ctypes.CDLL(None).syncfs(file)
os.unlink(disk + "/moved/sub/file")
os.rmdir(disk + "/moved/sub")
shutil.rmtree(disk + "/moved")
"""


@needs_a_recorder
def test_the_recorder_records_what_is_done_to_folders(tmp_path: Path) -> None:
    events = recorded(_FOLDERS, tmp_path)

    folder, moved = f"{tmp_path}/disk/folder", f"{tmp_path}/disk/moved"
    assert [(one.kind, one.offset, one.data.decode()) for one in events if one.kind != "O"] == [
        ("D", 0, f"{folder}\0"),
        ("D", 0, f"{folder}/sub\0"),
        ("L", 0, f"{folder}/sub/file\0{folder}/link"),
        ("P", 9, f"{folder}/link"),
        ("R", 0, f"{folder}\0{moved}"),
        ("W", 0, "later"),
        ("F", 0, ""),
        ("f", 0, ""),
        ("U", 0, f"{moved}/sub/file\0"),
        ("U", 0, f"{moved}/sub\0"),
        ("U", 0, f"{moved}/link\0"),
        ("U", 0, f"{moved}\0"),
    ]
    assert events[2] == Event("O", 1, CREATED | TRUNCATED, f"{folder}/sub/file".encode())
