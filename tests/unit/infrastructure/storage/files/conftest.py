from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes import files_store
from tests.fakes.files_store import FilesStore
from tests.unit.infrastructure.storage.files import stores


@pytest.fixture(autouse=True)
def closed_stores() -> Iterator[None]:
    """Descriptors and threads of a test end with it."""
    yield
    while stores.OPENED:
        stores.OPENED.pop().commit.close()
    while files_store.OPENED:
        files_store.OPENED.pop().close()


@pytest.fixture
def store(tmp_path: Path) -> FilesStore:
    return FilesStore(tmp_path / "store")
