"""Commit: persists all staged changes or none, and calls back once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from application.ports.commit import at_once
from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageInUse
from tests.contract.batches import batch
from tests.contract.engines import ENGINES, Engine, OpenStore, in_postgres

_FALLIBLE = {name: engine for name, engine in ENGINES.items() if engine.open_small}
_TOO_MUCH = batch(0, bytes(4 << 20))


@pytest.fixture(params=_FALLIBLE.values(), ids=_FALLIBLE.keys())
def small_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    engine: Engine = request.param
    assert engine.open_small is not None
    opened = OpenStore(Engine(engine.open_small), tmp_path)
    yield opened
    opened.close()


def test_a_commit_without_changes_succeeds(store: OpenStore) -> None:
    assert store.commit() is None
    assert store.commit() is None


def test_batches_and_rows_are_persisted_by_one_commit(store: OpenStore) -> None:
    store.log.append(1, 0, batch(0, b"batch"))
    store.state.put("topics", b"key", b"value")
    store.log.append(2, 0, batch(0, b"batch"))
    store.keep()

    assert store.log.partition_ids() == [1, 2]
    assert store.state.get("topics", b"key") == b"value"


def test_a_batch_can_be_staged_from_within_done(store: OpenStore) -> None:
    def stage_another(failure: StorageFailed | None) -> None:
        store.log.append(1, 1, batch(1, b"second"))

    store.log.append(1, 0, batch(0, b"first"))
    store.storage.commit.commit(stage_another)
    assert store.everything(1) == batch(0, b"first")

    store.keep()
    assert store.everything(1) == batch(0, b"first") + batch(1, b"second")


def test_a_failed_commit_discards_all_staged_changes(small_store: OpenStore) -> None:
    store = small_store
    store.log.append(1, 0, batch(0, b"persisted"), 1000)
    store.state.put("topics", b"persisted", b"")
    store.keep()

    store.log.append(1, 1, batch(1, b"before"), 2000)
    store.state.put("topics", b"before", b"")
    store.log.append(2, 0, _TOO_MUCH)
    store.log.append(1, 2, batch(2, b"after"), 3000)
    store.state.put("topics", b"after", b"")
    assert not store.log.drop(1, 100)
    failure = store.commit()

    assert isinstance(failure, StorageFailed)
    assert "full" in failure.message
    assert store.everything(1) == batch(0, b"persisted")
    assert store.log.at_timestamp(1, 9999) == 1
    assert store.log.partition_ids() == [1]
    assert store.state.scan("topics") == [(b"persisted", b"")]


def test_a_store_works_after_a_failed_commit(small_store: OpenStore) -> None:
    store = small_store
    store.log.append(1, 0, _TOO_MUCH)
    assert store.commit() is not None
    assert store.commit() is None, "a failure is reported once"

    store.log.append(1, 0, batch(0, b"again"))
    store.keep()
    assert store.everything(1) == batch(0, b"again")


def test_a_large_row_that_does_not_fit_fails_the_commit_too(small_store: OpenStore) -> None:
    small_store.state.put("partitions", b"key", _TOO_MUCH)

    assert small_store.commit() is not None
    assert small_store.state.scan("partitions") == []


def test_many_rows_that_do_not_fit_are_discarded_and_fit_when_repeated(
    small_store: OpenStore,
) -> None:
    rows = [(b"%d" % number, bytes(100_000)) for number in range(40)]
    small_store.state.put("offsets", b"before", b"")
    small_store.state.put_all("offsets", rows)
    small_store.state.put_all("offsets", [(b"after", b"")])
    assert small_store.commit() is not None
    assert small_store.state.scan("offsets") == []

    small_store.state.put_all("offsets", rows)
    small_store.keep()
    assert small_store.state.scan("offsets") == sorted(rows)


def test_close_discards_staged_changes_and_may_be_called_twice(lasting_store: OpenStore) -> None:
    store = lasting_store
    store.log.append(1, 0, batch(0, b"staged"))
    store.storage.commit.close()
    store.reopen()

    assert store.log.partition_ids() == []


def test_a_store_is_opened_once_at_a_time(lasting_store: OpenStore) -> None:
    with pytest.raises(StorageInUse, match="in use by process"):
        lasting_store.engine.open_in(lasting_store.folder)

    lasting_store.log.append(1, 0, batch(0, b"batch"))
    lasting_store.keep()
    assert lasting_store.everything(1) == batch(0, b"batch")


def test_a_store_keeps_its_id(lasting_store: OpenStore) -> None:
    before = lasting_store.storage.info.store_id
    lasting_store.reopen()

    assert lasting_store.storage.info.store_id == before
    assert len(before) == 32


def test_a_commit_that_waits_is_done_in_the_call(tmp_path: Path) -> None:
    """As at the start of a broker: nothing runs on the loop yet."""
    callbacks: list[object] = []
    storage = in_postgres(tmp_path, callbacks.append)
    storage.state.put("t", b"k", b"v")
    at_once(partial(storage.commit.commit, waits=True))
    assert storage.state.get("t", b"k") == b"v"
    assert callbacks == []
    storage.commit.close()


def test_what_was_staged_when_the_store_was_closed_is_not_persisted(store: OpenStore) -> None:
    """It was discarded; the next commit must not say that it is durable."""
    store.log.append(1, 0, batch(0, b"batch"))
    outcomes: list[StorageFailed | None] = []
    store.storage.commit.close()
    store.storage.commit.commit(outcomes.append)
    assert isinstance(outcomes[0], StorageFailed)
