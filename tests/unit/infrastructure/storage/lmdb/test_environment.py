from __future__ import annotations

import os
import resource
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import lmdb
import pytest

from infrastructure.storage.errors import (
    StorageDamaged,
    StorageForeign,
    StorageOtherFormat,
    StorageUnusable,
)
from infrastructure.storage.flush import Flush
from infrastructure.storage.lmdb.commit import WritePass
from infrastructure.storage.lmdb.entries import StagedEntries
from infrastructure.storage.lmdb.environment import MAP_SIZE_BYTES, LmdbEnvironment
from infrastructure.storage.lmdb.identity import FORMAT, WITHOUT_PARTS
from infrastructure.storage.lmdb.keys import KEY
from infrastructure.storage.lmdb.log_store import LmdbLogStore
from infrastructure.storage.lmdb.parts import WHOLE_BYTES
from tests.contract.batches import batch
from tests.fakes.limits import limited


@contextmanager
def rows_of(folder: Path) -> Iterator[lmdb.Transaction[bytes]]:
    """The rows, to be changed."""
    env = lmdb.Environment(str(folder), max_dbs=8)
    with env.begin(db=env.open_db(b"rows"), write=True) as txn:
        yield txn
    env.close()


@contextmanager
def environment_of(folder: Path, flush: Flush = "os") -> Iterator[LmdbEnvironment]:
    environment = LmdbEnvironment(folder, flush)
    try:
        yield environment
    finally:
        environment.close()


def refused(
    folder: Path, match: str | None, error: type[StorageUnusable] = StorageDamaged, **how: bool
) -> None:
    """Refused in one line, without a change of the files but for LMDB's table of readers."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != "lock.mdb"]
    before = [file.read_bytes() for file in files]
    for _ in range(2):  # the second time too: nothing stays locked
        with pytest.raises(error, match=match) as refusal:
            LmdbEnvironment(folder, "os", **how)
        assert "\n" not in str(refusal.value)
    assert [file.read_bytes() for file in files] == before


def create(folder: Path) -> Path:
    """A new store; returns its data file."""
    LmdbEnvironment(folder, "os").close()
    return folder / "data.mdb"


def test_a_new_store_has_format_and_id(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    create(folder)
    with rows_of(folder) as rows:
        assert rows.get(b"store\0format") == b"%d" % FORMAT
        assert len(rows.get(b"store\0id") or b"") == 32
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for file in folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0, file


@pytest.mark.parametrize("left", [b"", bytes(4096), b"garbage" * 1000], ids=len)
def test_an_interrupted_creation_is_repeated(tmp_path: Path, left: bytes) -> None:
    (tmp_path / "new.mdb").write_bytes(left)
    (tmp_path / "new.mdb-lock").write_bytes(left)

    LmdbEnvironment(tmp_path, "commit").close()

    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"data.mdb", "lock.mdb", "ottla.lock", "ottla.reserve"}


@pytest.mark.parametrize("flush", ["commit", "interval", "os"])
def test_only_flush_commit_syncs_in_a_commit(tmp_path: Path, flush: Flush) -> None:
    with environment_of(tmp_path, flush) as environment:
        flags = environment.env.flags()
    assert flags["sync"] == flags["metasync"] == (flush == "commit")
    assert not flags["writemap"]


def test_the_map_is_large_and_the_file_is_small(tmp_path: Path) -> None:
    with environment_of(tmp_path) as environment:
        assert environment.env.info()["map_size"] == MAP_SIZE_BYTES
        assert (tmp_path / "data.mdb").stat().st_size < 1 << 16


def test_with_little_address_space_the_map_is_smaller(tmp_path: Path) -> None:
    with limited(resource.RLIMIT_AS, 100 << 30), environment_of(tmp_path) as environment:
        assert environment.map_size_bytes == environment.env.info()["map_size"] == 64 << 30


def test_a_read_leaves_no_transaction_open(tmp_path: Path) -> None:
    with environment_of(tmp_path) as environment:
        for _ in range(3):
            with environment.env.begin(buffers=True) as txn:
                txn.get(b"store\0id", db=environment.rows)
        transactions = [line.split()[2] for line in environment.env.readers().splitlines()[1:]]
    assert set(transactions) <= {"-"}


_READ_AND_WAIT = """
import sys, lmdb
env = lmdb.Environment(sys.argv[1], readonly=True)
txn = env.begin()
print("reading", flush=True)
sys.stdin.read()
"""


def test_killed_readers_are_removed(tmp_path: Path) -> None:
    create(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", _READ_AND_WAIT, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "reading\n"
        reader.kill()

    environment = LmdbEnvironment(tmp_path, "os")
    assert str(reader.pid) not in environment.env.readers()
    environment.close()


def test_a_file_of_random_bytes_is_refused_unchanged(tmp_path: Path) -> None:
    (tmp_path / "data.mdb").write_bytes(os.urandom(100_000))
    refused(tmp_path, "cannot be read")


def test_an_environment_of_another_program_is_refused(tmp_path: Path) -> None:
    with lmdb.Environment(str(tmp_path)) as env, env.begin(write=True) as txn:
        txn.put(b"theirs", b"value")
    refused(tmp_path, "not Ottla's")


@pytest.mark.parametrize("written", [WITHOUT_PARTS - 1, 99])
def test_another_format_is_refused_in_one_line(tmp_path: Path, written: int) -> None:
    create(tmp_path)
    with rows_of(tmp_path) as rows:
        rows.put(b"store\0format", b"%d" % written)
    formats = f"{WITHOUT_PARTS} and {FORMAT}"
    refused(tmp_path, f"has format {written};.* {formats} only$", StorageOtherFormat)


def test_a_store_of_the_format_before_is_read_and_then_has_this_one(tmp_path: Path) -> None:
    create(tmp_path)
    large = batch(0, size_bytes=2 * WHOLE_BYTES)
    with rows_of(tmp_path) as rows:
        rows.put(b"store\0format", b"%d" % WITHOUT_PARTS)
    env = lmdb.Environment(str(tmp_path), max_dbs=8)
    with env, env.begin(db=env.open_db(b"batches"), write=True) as txn:
        txn.put(KEY.pack(1, 0), large)

    with environment_of(tmp_path) as environment:
        entries = StagedEntries(environment.batches)
        log = LmdbLogStore(environment, WritePass(environment, entries), entries)
        assert log.read(1, 0, 1, len(large), False) == large
    with rows_of(tmp_path) as rows:
        assert rows.get(b"store\0format") == b"%d" % FORMAT


def test_a_read_only_open_creates_no_store(tmp_path: Path) -> None:
    with lmdb.Environment(str(tmp_path), max_dbs=8):
        pass  # nothing in it
    refused(tmp_path, None, read_only=True)


@pytest.mark.parametrize("row", [b"store\0format", b"store\0id"])
def test_a_store_without_its_identity_is_refused(tmp_path: Path, row: bytes) -> None:
    create(tmp_path)
    with rows_of(tmp_path) as rows:
        rows.delete(row)
    refused(tmp_path, "lost its format and id")


@pytest.mark.parametrize("missing_bytes", [1, 4096, 40_000])
def test_a_truncated_file_is_refused(tmp_path: Path, missing_bytes: int) -> None:
    with environment_of(tmp_path) as environment, environment.env.begin(write=True) as txn:
        txn.put(bytes(12), bytes(100_000), db=environment.batches)
    data_file = tmp_path / "data.mdb"
    os.truncate(data_file, data_file.stat().st_size - missing_bytes)
    refused(tmp_path, "is truncated")


def test_free_pages_at_the_end_of_the_file_can_be_missing(tmp_path: Path) -> None:
    with environment_of(tmp_path) as environment:
        for number in range(20):
            with environment.env.begin(write=True) as txn:
                txn.put(b"%012d" % number, bytes(5000), db=environment.batches)
    data_file = tmp_path / "data.mdb"
    os.truncate(data_file, data_file.stat().st_size - 4096)
    create(tmp_path)


@pytest.mark.parametrize(
    ("size_bytes", "match"),
    [(0, r"data\.mdb is empty; restore it"), (100, None), (4096, None), (8191, None)],
)
def test_a_file_truncated_in_its_first_pages_is_refused_unchanged(
    tmp_path: Path, size_bytes: int, match: str | None
) -> None:
    os.truncate(create(tmp_path), size_bytes)
    refused(tmp_path, match)


@pytest.mark.parametrize("left", ["lock.mdb", "ottla.unsynced"])
def test_a_missing_data_file_is_refused(tmp_path: Path, left: str) -> None:
    (tmp_path / left).touch()
    refused(tmp_path, rf"data\.mdb is missing, and {left} shows")
    assert not (tmp_path / "data.mdb").exists()


def test_a_folder_with_a_lock_file_only_is_accepted(tmp_path: Path) -> None:
    (tmp_path / "ottla.lock").touch()

    create(tmp_path)


@pytest.mark.parametrize("name", ["meta.properties", "orders-0/00000000000000000000.log"])
def test_a_data_folder_of_kafka_is_refused_unchanged(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("version=1")
    before = sorted(tmp_path.rglob("*"))
    refused(tmp_path, "is a data folder of Apache Kafka", StorageForeign)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_store_beside_files_of_kafka_is_opened(tmp_path: Path) -> None:
    create(tmp_path)
    (tmp_path / "meta.properties").write_text("version=1")
    create(tmp_path)
