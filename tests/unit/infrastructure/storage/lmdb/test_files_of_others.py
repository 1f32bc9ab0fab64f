"""Segments without rows: a new store beside them would take them for what no commit has reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from application.state.runtime import ignore
from infrastructure.opening import open_storage
from infrastructure.storage.errors import StorageDamaged, StorageForeign, StorageUnusable
from tests.fakes.batches import record_batch


def refused(folder: Path, error: type[StorageUnusable], why: str) -> None:
    before = {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}
    with pytest.raises(error, match=why):
        open_storage(f"files://{folder}")
    assert {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")} == before


@pytest.mark.parametrize("name", ["meta.properties", "__cluster_metadata-0/quorum-state"])
def test_a_data_folder_of_kafka_is_refused_unchanged(tmp_path: Path, name: str) -> None:
    for file in (name, "orders-0/00000000000000000000.log"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("version=1")
    refused(tmp_path, StorageForeign, "is a data folder of Apache Kafka")


def test_segments_that_have_lost_their_rows_are_refused_unchanged(tmp_path: Path) -> None:
    storage = open_storage(f"files://{tmp_path}", "os")
    storage.log.append(0, 41, record_batch([b"v"], base_offset=41))
    storage.commit.commit(ignore)
    storage.commit.close()
    for path in tmp_path.iterdir():
        if path.is_file():
            path.unlink()
    refused(tmp_path, StorageDamaged, r"data\.mdb is missing, and partition.*41\.log shows that")
