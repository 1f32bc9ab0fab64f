from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from application.ports.offset_repository import OffsetRepository
from infrastructure.opening import folder_of, open_offsets, open_storage, read_url
from infrastructure.storage.errors import OffsetsUnusable, StorageUnusable, UnknownStorage
from infrastructure.storage.flush import Flush
from tests.fakes.logs import FakeEventLog


@pytest.mark.parametrize(
    "url", ["", "memory", "memory://x", "lmdb", "lmdb://", "/var/lib/ottla", "s3://bucket", "://x"]
)
def test_an_unknown_url_is_refused_with_the_supported_ones(url: str) -> None:
    with pytest.raises(UnknownStorage, match="memory:// or lmdb://"):
        open_storage(url)


@pytest.mark.parametrize("call", [open_storage, folder_of])
def test_a_refused_url_is_named_without_its_password(call: Callable[[str], object]) -> None:
    with pytest.raises(UnknownStorage) as refusal:
        call("mysql://me:hunter2@host/db")
    assert "'mysql://me:***@host/db'" in str(refusal.value)


POSTGRESQL = "postgresql://me:hunter2@127.0.0.1:1/db"


def test_a_store_in_postgresql_has_no_interval() -> None:
    with pytest.raises(StorageUnusable, match="PostgreSQL has flush=commit and flush=os, not"):
        open_storage(POSTGRESQL, "interval")


def test_a_store_in_postgresql_needs_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(StorageUnusable, match="PostgreSQL needs its driver: pip install "):
        open_storage(POSTGRESQL)


@pytest.mark.parametrize("read", [folder_of, read_url])
def test_a_store_in_postgresql_has_no_folder(read: Callable[[str], object]) -> None:
    with pytest.raises(UnknownStorage) as refusal:
        read(POSTGRESQL)
    assert str(refusal.value) == (
        "storage 'postgresql://me:***@127.0.0.1:1/db' is in a database, and not in a folder"
    )


def test_memory_has_no_folder_and_no_flush() -> None:
    storage = open_storage("memory://")

    assert (storage.info.kind, storage.info.path) == ("memory", None)
    assert storage.start_flush is None


@pytest.mark.parametrize("flush, flushes", [("commit", 0), ("interval", 1), ("os", 0)])
def test_lmdb_is_flushed_periodically_with_interval_only(
    tmp_path: Path, flush: Flush, flushes: int
) -> None:
    storage = open_storage(f"lmdb://{tmp_path}/store", flush)

    assert (storage.info.kind, storage.info.flush) == ("lmdb", flush)
    assert storage.info.path == tmp_path / "store"
    assert storage.info.size_bytes > 0
    assert (storage.start_flush is not None) == bool(flushes)
    storage.commit.close()


def test_the_leader_epoch_of_the_next_start_only_rises(tmp_path: Path) -> None:
    def opened(epoch: int | None = None) -> int:
        storage = open_storage(f"lmdb://{tmp_path}/store")
        if epoch is not None:
            assert storage.raise_leader_epoch is not None
            storage.raise_leader_epoch(epoch)
            storage.commit.commit(lambda failure: None)
        storage.commit.close()
        return storage.info.losses

    assert [opened(7), opened(3), opened()] == [0, 7, 7]
    assert open_storage("memory://").raise_leader_epoch is None


def test_a_relative_folder_is_below_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_storage("lmdb://a/b").commit.close()

    assert (tmp_path / "a" / "b" / "data.mdb").exists()


@pytest.mark.parametrize(
    "path, reason",
    [("file", "is a file, not a folder"), ("file/below", "cannot be used: Not a directory")],
)
def test_a_path_that_is_no_folder_is_refused(path: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageUnusable, match=reason):
        open_storage(f"lmdb://{tmp_path}/{path}")


def test_memory_storage_does_not_import_lmdb() -> None:
    code = """
import sys
from infrastructure.opening import open_storage
open_storage("memory://")
sys.exit("lmdb" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def offsets_at(url: str | None) -> OffsetRepository:
    return open_offsets(
        url,
        open_storage("memory://"),
        lambda done: done(None),
        "commit",
        lambda call: call(),
        lambda failure: None,
        FakeEventLog(),
    )


@pytest.mark.parametrize(
    ("url", "engine"),
    [
        (None, "StoredOffsetRepository"),
        ("memory://", "MemoryOffsetRepository"),
        ("sqlite:///nowhere/offsets.db", "SqlOffsetRepository"),
        ("postgresql://host/db", "SqlOffsetRepository"),
    ],
)
def test_offset_stores_are_opened_by_url(url: str | None, engine: str) -> None:
    assert type(offsets_at(url)).__name__ == engine


def test_without_a_driver_postgres_is_refused_with_a_hint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(OffsetsUnusable, match=r"pip install 'psycopg\[binary\]'"):
        offsets_at("postgresql://me:hunter2@host/db")


def test_unused_databases_are_not_imported() -> None:
    program = (
        "import sys; from infrastructure.opening import open_offsets, open_storage; "
        "open_offsets(None, open_storage('memory://'), None, 'os', None, None, None); "
        "open_offsets('sqlite:///x', open_storage('memory://'), None, 'os', None, None, None); "
        "print([name for name in ('sqlalchemy', 'sqlite3', 'psycopg') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
