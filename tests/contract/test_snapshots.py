"""Snapshots: a copy of a whole store, which is put back as often as wanted."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from infrastructure.storage.engine import StoreSnapshot
from tests.contract.batches import batch
from tests.contract.engines import ENGINES, Engine, OpenStore

_WITH_SNAPSHOTS = {name: engine for name, engine in ENGINES.items() if engine.has_snapshots}
_LASTING = {name: engine for name, engine in _WITH_SNAPSHOTS.items() if engine.persistent}


@pytest.fixture(params=_WITH_SNAPSHOTS.values(), ids=_WITH_SNAPSHOTS.keys())
def engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    return chosen


@pytest.fixture(params=_LASTING.values(), ids=_LASTING.keys())
def lasting_engine(request: pytest.FixtureRequest) -> Engine:
    chosen: Engine = request.param
    return chosen


@pytest.fixture
def snapshot(store: OpenStore) -> Iterator[StoreSnapshot]:
    """Of a store with one batch and two rows."""
    store.log.append(1, 0, batch(0, b"old"), 1000)
    store.state.put("topics", b"changed", b"old")
    store.state.put("topics", b"deleted", b"old")
    store.keep()
    taken = take(store)
    yield taken
    taken.delete()


def take(store: OpenStore) -> StoreSnapshot:
    assert store.storage.take_snapshot is not None
    return store.storage.take_snapshot()


def change(store: OpenStore) -> None:
    store.log.append(1, 1, batch(1, b"new"), 2000)
    store.log.append(2, 0, batch(0, b"new"), 2000)
    store.state.put("topics", b"changed", b"new")
    store.state.put("topics", b"deleted", None)
    store.state.put("groups", b"added", b"new")
    store.keep()


def check_old(store: OpenStore) -> None:
    assert store.log.partition_ids() == [1]
    assert store.everything(1) == batch(0, b"old")
    assert store.log.at_timestamp(1, 3000) == 1
    assert store.state.scan("topics") == [(b"changed", b"old"), (b"deleted", b"old")]
    assert store.state.tables() == ["topics"]


def test_a_snapshot_is_restored_more_than_once(store: OpenStore, snapshot: StoreSnapshot) -> None:
    for _ in range(2):
        change(store)
        assert store.state.tables() == ["groups", "topics"]
        snapshot.restore()
        check_old(store)


def test_staged_changes_are_discarded(store: OpenStore, snapshot: StoreSnapshot) -> None:
    store.log.append(1, 1, batch(1, b"staged"))
    store.state.put("groups", b"staged", b"")
    snapshot.restore()
    check_old(store)
    store.keep()
    check_old(store)


def test_what_is_added_to_a_snapshot_is_in_the_same_commit(
    store: OpenStore, snapshot: StoreSnapshot
) -> None:
    snapshot.restore(lambda: store.state.put("groups", b"added", b"new"))
    assert store.state.scan("groups") == [(b"added", b"new")]
    assert store.everything(1) == batch(0, b"old")


def test_a_snapshot_has_committed_data_only(store: OpenStore) -> None:
    store.state.put("topics", b"staged", b"")
    taken = take(store)
    store.keep()
    taken.restore()
    assert store.state.tables() == []
    taken.delete()


def test_a_restored_store_goes_on(store: OpenStore, snapshot: StoreSnapshot) -> None:
    change(store)
    snapshot.restore()
    store.log.append(1, 1, batch(1, b"next"))
    store.keep()
    assert store.everything(1) == batch(0, b"old") + batch(1, b"next")


def test_a_restored_snapshot_is_durable(lasting_store: OpenStore) -> None:
    store = lasting_store
    store.log.append(1, 0, batch(0, b"old"))
    store.keep()
    taken = take(store)
    store_id = store.storage.info.store_id
    store.log.append(1, 1, batch(1, b"new"))
    store.keep()
    taken.restore()
    store.reopen()
    assert store.everything(1) == batch(0, b"old")
    assert store.storage.info.store_id == store_id
    taken.delete()
