from __future__ import annotations

import os
from pathlib import Path

import pytest

from application.ports.volume import UNKNOWN_SPACE
from infrastructure.storage.engine import StorageInfo
from infrastructure.storage.volume import StorageVolume


def volume_of(path: Path | None, kind: str = "lmdb") -> StorageVolume:
    return StorageVolume(StorageInfo(kind, path, 0, "commit", "an-id"))


def test_a_folder_has_a_volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    volume = volume_of(Path())
    assert volume.path == os.fspath(tmp_path)
    space = volume.space()
    assert 0 <= space.usable_bytes <= space.total_bytes
    assert space.total_bytes > 0


@pytest.mark.parametrize("kind", ["memory", "postgresql"])
def test_a_store_without_a_folder_has_no_volume(kind: str) -> None:
    volume = volume_of(None, kind)
    assert (volume.path, volume.space()) == (kind, UNKNOWN_SPACE)


def test_a_missing_volume_is_unknown(tmp_path: Path) -> None:
    assert volume_of(tmp_path / "nope").space() == UNKNOWN_SPACE
