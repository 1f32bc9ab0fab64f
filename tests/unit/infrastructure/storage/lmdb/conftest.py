from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.infrastructure.storage.lmdb.reopening import OPENED


@pytest.fixture(autouse=True)
def close_stores() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().commit.close()
