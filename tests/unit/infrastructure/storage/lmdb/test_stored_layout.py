from __future__ import annotations

from pathlib import Path

import pytest

from application.ports.commit import at_once
from infrastructure.opening import folder_of, open_storage
from infrastructure.storage.lmdb.identity import IN_FILES, IN_LMDB
from infrastructure.storage.lmdb.stored_layout import layout_in


@pytest.mark.parametrize("layout", [IN_LMDB, IN_FILES])
@pytest.mark.parametrize("rows", [0, 5000])
def test_a_folder_is_opened_as_what_its_store_is(tmp_path: Path, layout: object, rows: int) -> None:
    assert isinstance(layout, tuple)
    url = f"{layout[0]}://{tmp_path}"
    storage = open_storage(url, "os")
    for number in range(rows):
        storage.state.put(("a", "topics", "z")[number % 3], b"%d" % number, b"x" * 50)
    at_once(storage.commit.commit)
    # Also beside its broker.
    assert layout_in(tmp_path) is layout
    storage.commit.close()
    assert layout_in(tmp_path) is layout
    assert folder_of(str(tmp_path)).url == url


def test_a_new_folder_is_one_of_lmdb(tmp_path: Path) -> None:
    assert layout_in(tmp_path) is None
    assert folder_of(str(tmp_path)).url == f"lmdb://{tmp_path}"


def test_a_damaged_file_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    open_storage(f"files://{tmp_path}/whole", "os").commit.close()
    whole = (tmp_path / "whole" / "data.mdb").read_bytes()
    for size_bytes in range(0, len(whole), 997):
        (tmp_path / "data.mdb").write_bytes(whole[:size_bytes])
        assert layout_in(tmp_path) in (None, IN_FILES)
    for at in range(0, len(whole), 61):
        changed = bytearray(whole)
        changed[at] ^= 0xFF
        (tmp_path / "data.mdb").write_bytes(changed)
        layout_in(tmp_path)
