"""Tails in PostgreSQL that are full with each commit."""

from __future__ import annotations

import pytest

from tests.contract.relayed_postgres import RelayedStore

#: Below the size of any entry: each commit has a tail of its own.
TINY = 1
#: It has one response.
OF_THE_COMMIT = 1

later = pytest.mark.parametrize("relayed", ["later"], indirect=True)


def read_slow(store: RelayedStore) -> bytes:
    store.storage.log._contents.cache.clear()
    read: bytes = store.patiently(lambda: store.storage.log.read(2, 0, 1 << 62, 1 << 62, True))
    return read
