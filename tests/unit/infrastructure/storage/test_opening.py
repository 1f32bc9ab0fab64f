from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from infrastructure.storage.errors import StorageUnusable, UnknownStorage
from infrastructure.storage.flush import Flush
from infrastructure.storage.opening import open_storage


@pytest.mark.parametrize(
    "url", ["", "memory", "memory://x", "lmdb", "lmdb://", "/var/lib/ottla", "s3://bucket", "://x"]
)
def test_an_unknown_url_is_refused_with_what_is_allowed(url: str) -> None:
    with pytest.raises(UnknownStorage) as refused:
        open_storage(url)

    assert str(refused.value) == (
        f"storage '{url}' is not known; allowed: memory:// or lmdb:///path/to/folder"
    )


def test_memory_says_that_data_is_lost() -> None:
    storage = open_storage("memory://")

    assert (storage.info.kind, storage.info.path) == ("memory", None)
    assert storage.info.warning == "memory storage: all data is lost when the broker stops"
    assert storage.start_flush is None


@pytest.mark.parametrize(
    "flush, warns, flushes", [("commit", 0, 0), ("interval", 1, 1), ("os", 1, 0)]
)
def test_lmdb_says_what_its_flush_policy_means(
    tmp_path: Path, flush: Flush, warns: int, flushes: int
) -> None:
    storage = open_storage(f"lmdb://{tmp_path}/store", flush)

    assert (storage.info.kind, storage.info.flush) == ("lmdb", flush)
    assert storage.info.path == tmp_path / "store"
    assert storage.info.size_bytes > 0
    assert ("power cut" in (storage.info.warning or "")) == bool(warns)
    assert (storage.start_flush is not None) == bool(flushes)
    storage.commit.close()


def test_a_relative_folder_lies_beside_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    open_storage("lmdb://a/b").commit.close()

    assert (tmp_path / "a" / "b" / "data.mdb").exists()


@pytest.mark.parametrize(
    "path, reason",
    [
        ("file", "{0}/file is a file, not a folder"),
        ("file/below", "the data folder {0}/file/below cannot be used: Not a directory"),
    ],
)
def test_a_path_that_is_no_folder_is_refused_in_one_line(
    path: str, reason: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(StorageUnusable) as refused:
        open_storage(f"lmdb://{tmp_path}/{path}")

    assert str(refused.value) == reason.format(tmp_path)


def test_memory_storage_does_not_import_lmdb() -> None:
    code = """
import sys
from infrastructure.storage.opening import open_storage
open_storage("memory://")
sys.exit("lmdb" in sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)
