"""Unfinished imports over every engine."""

from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.repositories.import_repository import StoredImportRepository
from tests.contract.engines import OpenStore

TOPICS = {"orders": [(3, (0, 9, 1)), (4, (-1, 0, 0))], "größe": [(5, ())]}


def test_a_saved_import_is_loaded_after_the_commit(store: OpenStore) -> None:
    imports = StoredImportRepository(store.state)
    imports.save("one", TOPICS)
    imports.save("other", {"t": [(7, ())]})
    assert imports.load("one") == {}
    store.keep()
    assert imports.load("one") == TOPICS


def test_without_topics_the_row_is_deleted(store: OpenStore) -> None:
    imports = StoredImportRepository(store.state)
    imports.save("one", TOPICS)
    store.keep()
    imports.save("one", {})
    store.keep()
    assert store.state.scan("imports") == []


@pytest.mark.parametrize("row", [b"x", b"[]", b'{"t": [1]}', b'{"t": [["a", []]]}', b'{"t": 1}'])
def test_a_damaged_row_is_reported(store: OpenStore, row: bytes) -> None:
    store.state.put("imports", b"one", row)
    store.keep()
    with pytest.raises(StorageFailed, match="could not read the import 'one'"):
        StoredImportRepository(store.state).load("one")
