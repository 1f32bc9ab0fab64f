"""Objects that are not needed any more are deleted from the bucket after the delay."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from infrastructure.storage.objects.bucket import Bucket
from infrastructure.storage.objects.errors import ObjectsFailed
from infrastructure.storage.postgresql import garbage
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore
from tests.contract.s3_objects import Objects
from tests.contract.tiny_tails import TINY, later

pytestmark = [pytest.mark.usefixtures("at_once", "s3"), later]

DELAYED = "&local.bytes=0&delete.delay.ms=3600000"


@pytest.fixture
def forgotten(relayed: RelayedPostgres, objects: Objects) -> RelayedStore:
    """Two objects that are not needed stay in the bucket until the delay is over."""
    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}{DELAYED}")
    store.keep(0, 1)
    store.keep_up()
    store.trim(2)
    assert store.commit() is None
    store.keep_up()
    assert relayed.objects() == [] and len(objects.names()) == 2
    return store


def an_hour_passes(relayed: RelayedPostgres) -> None:
    relayed.execute("update ottla_tails set deleted = deleted - interval '1 hour'")


def a_minute_passes(store: RelayedStore) -> None:
    """And it looks for objects that are to be deleted."""
    store.storage.commit._dropping._garbage._next_s = 0.0
    assert store.storage.keep_up is not None
    store.storage.keep_up()
    store.keep_up()


def test_it_stays_in_the_bucket_until_the_delay_is_over(
    relayed: RelayedPostgres, objects: Objects, forgotten: RelayedStore
) -> None:
    forgotten.close()
    an_hour_passes(relayed)
    again = relayed.open(tail_bytes=TINY, more=f"{objects.url}{DELAYED}")
    again.keep(2)
    again.keep_up()
    assert len(objects.names()) == 1


def test_it_is_deleted_also_if_nothing_is_committed_any_more(
    relayed: RelayedPostgres, objects: Objects, forgotten: RelayedStore
) -> None:
    an_hour_passes(relayed)
    a_minute_passes(forgotten)
    assert objects.names() == []


def test_many_are_deleted_without_a_pause(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(garbage, "_AT_ONCE", 2)
    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}{DELAYED}")
    store.keep(*range(7))
    store.keep_up()
    store.trim(7)
    assert store.commit() is None
    store.keep_up()
    assert len(objects.names()) == 7
    an_hour_passes(relayed)
    a_minute_passes(store)
    assert objects.names() == []
    assert store.storage.commit._dropping._garbage._next_s > 0, "the next look is in a minute"


def test_a_bucket_that_fails_is_not_asked_again_at_once(
    relayed: RelayedPostgres,
    objects: Objects,
    forgotten: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(garbage, "_AT_ONCE", 2)

    def fail(self: Bucket, names: Sequence[str]) -> None:
        raise ObjectsFailed("the bucket is away")

    monkeypatch.setattr(Bucket, "delete", fail)
    an_hour_passes(relayed)
    a_minute_passes(forgotten)
    assert len(objects.names()) == 2
    assert not forgotten.storage.commit._dropping._garbage.is_due


def test_an_object_that_cannot_be_deleted_keeps_no_other_one(
    relayed: RelayedPostgres,
    objects: Objects,
    forgotten: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As with a legal hold."""
    held, other = objects.names()
    delete = Bucket.delete

    def refused(self: Bucket, names: Sequence[str]) -> None:
        if held in names:
            raise ObjectsFailed(f"{held} is held")
        delete(self, names)

    monkeypatch.setattr(Bucket, "delete", refused)
    an_hour_passes(relayed)
    for _ in range(50):  # the one that is tried alone is drawn
        if other in objects.names():
            a_minute_passes(forgotten)
    assert objects.names() == [held]
    assert relayed.execute("select object from ottla_tails where deleted is not null") == [(held,)]
