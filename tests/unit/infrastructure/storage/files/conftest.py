from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.unit.infrastructure.storage.files.stores import OPENED


@pytest.fixture(autouse=True)
def closed_stores() -> Iterator[None]:
    """Descriptors and threads of a test end with it."""
    yield
    while OPENED:
        OPENED.pop().commit.close()
