"""A standby that was promoted lacks commits: nothing is read there before they are repeated."""

from __future__ import annotations

import pytest

from domain.errors import StorageFailed
from tests.contract.batches import batch
from tests.contract.past import Past
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore
from tests.contract.s3_objects import ALL_SEALED, Objects
from tests.contract.test_postgresql_lost_commits import batches
from tests.contract.tiny_tails import later
from tests.fakes.postgres_relay import TIMEOUT_S

LACKS = "PostgreSQL lacks commits of this broker"


def run_until_repeated(store: RelayedStore) -> None:
    repeated = store.storage.repeated_commits
    assert repeated is not None
    while not repeated():
        store.callbacks.get(timeout=TIMEOUT_S)()


def test_no_part_of_a_log_is_skipped(relayed: RelayedPostgres) -> None:
    """Compaction has put it into a tail that the standby has, without it."""
    store = relayed.open(tail_bytes=150)
    store.keep(0, 1, 2, 3)
    store.keep_up()
    past = Past(relayed)
    compacted = batch(2, b"compacted", first_offset=1)
    store.patiently(lambda: store.storage.log.replace(1, 1, 2, [compacted], []))
    assert store.commit() is None
    store.keep_up()
    past.return_to()
    with pytest.raises(StorageFailed, match=LACKS):
        store.read()
    store.keep(4)
    assert store.read() == batch(0) + compacted + batches(3, 4)


@later
def test_a_store_in_which_nothing_is_written_has_them_again(relayed: RelayedPostgres) -> None:
    store = relayed.open()
    store.keep(0)
    past = Past(relayed)
    store.keep(1)
    past.return_to()
    with pytest.raises(StorageFailed, match=LACKS):
        store.read()
    run_until_repeated(store)
    assert store.read() == batches(0, 1)


@later
@pytest.mark.usefixtures("s3")
def test_no_object_is_written_without_them(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tail is full by what the standby lacks."""
    store = relayed.open(tail_bytes=1000, more=f"{objects.url}{ALL_SEALED}")
    large = b"x" * 1000
    commit = store.storage.commit
    sealing = commit._sealing
    with monkeypatch.context() as not_yet:
        not_yet.setattr(commit, "_sealing", None)
        store.keep(0)
        past = Past(relayed)
        store.append(1, large)
        assert store.commit() is None
        store.keep_up()
        past.return_to()
    sealing.look()
    assert sealing.is_busy
    store.keep_up()
    assert objects.names() == []
    assert commit.not_sealed() == LACKS
    store.keep(2)
    store.keep_up()
    assert store.read() == batch(0) + batch(1, large) + batch(2)
