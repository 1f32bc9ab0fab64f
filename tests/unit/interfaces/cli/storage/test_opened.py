"""What `ottla storage` says of a folder without a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.cli.failures import CommandFailed
from interfaces.cli.storage.opened import stored_at


def test_there_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=rf"^no store in {tmp_path}$"):
        stored_at(str(tmp_path))


@pytest.mark.parametrize("scheme", ["", "files://", "lmdb://"])
def test_a_folder_of_kafka_is_named(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "meta.properties").write_text("version=1\n")
    with pytest.raises(CommandFailed, match="is a folder of Apache Kafka, which is read by"):
        stored_at(f"{scheme}{tmp_path}")
    assert [one.name for one in tmp_path.iterdir()] == ["meta.properties"]
