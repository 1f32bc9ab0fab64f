from __future__ import annotations

import os
from pathlib import Path

import pytest

from application.ports.volume import UNKNOWN_SPACE
from infrastructure.storage.volume import NO_PLACE, StorageVolume


def test_a_folder_has_a_volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    volume = StorageVolume(Path())
    assert volume.path == os.fspath(tmp_path)
    space = volume.space()
    assert 0 <= space.usable_bytes <= space.total_bytes
    assert space.total_bytes > 0


def test_a_store_in_memory_has_no_volume() -> None:
    volume = StorageVolume(None)
    assert (volume.path, volume.space()) == (NO_PLACE, UNKNOWN_SPACE)


def test_a_missing_volume_is_unknown(tmp_path: Path) -> None:
    assert StorageVolume(tmp_path / "nope").space() == UNKNOWN_SPACE
