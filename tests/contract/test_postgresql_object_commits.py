"""With commit.to=objects the batches of large commits go into objects of a real S3 server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.objects.bucket import Bucket
from infrastructure.storage.objects.errors import ObjectsFailed
from infrastructure.storage.postgresql import object_commits, sealing, tails
from tests.contract.batches import batch
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore, held_commit
from tests.contract.s3_objects import BATCHES, Objects
from tests.contract.tiny_tails import later

pytestmark = [pytest.mark.usefixtures("at_once", "s3"), later]

TO_OBJECTS = "&commit.to=objects&delete.delay.ms=0"


@pytest.fixture(autouse=True)
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_commits, "LARGE_BYTES", 1)


@pytest.fixture
def store(relayed: RelayedPostgres, objects: Objects) -> RelayedStore:
    return relayed.open(more=f"{objects.url}{TO_OBJECTS}")


def in_tables(relayed: RelayedPostgres) -> int:
    [[count]] = relayed.execute(
        *(f"select count(*) from ottla_tail_{one}" for one in relayed.tails())
    )
    assert isinstance(count, int)
    return count


def start_again(relayed: RelayedPostgres, store: RelayedStore) -> None:
    """And delete what is not needed."""
    store.keep_up()
    store.close()
    again = relayed.open(more=TO_OBJECTS)
    again.keep(4)
    again.keep_up()


def write(store: RelayedStore, offsets: Iterable[int], partition_ids: Sequence[int]) -> None:
    """One commit with a batch of each partition for each offset."""
    for offset in offsets:
        for partition_id in partition_ids:
            store.storage.log.append(partition_id, offset, batch(offset))
        assert store.commit() is None
        store.keep_up()


def test_batches_are_in_objects_only(
    relayed: RelayedPostgres, objects: Objects, store: RelayedStore
) -> None:
    store.keep(0, 1)
    for offset in (2, 3):
        store.append(offset)
    store.storage.log.append(2, 0, batch(0, b"of another log"))
    assert store.commit() is None
    names = relayed.objects()
    assert sorted(names) == objects.names()
    assert [objects.data(name) for name in names] == [
        batch(0),
        batch(1),
        batch(2) + batch(3) + batch(0, b"of another log"),
    ]
    assert in_tables(relayed) == 0
    assert store.read() == BATCHES
    assert store.read(3) == batch(3)
    store.close()
    again = relayed.open(more=TO_OBJECTS)
    assert again.read() == BATCHES
    again.keep(4)
    assert again.read(4) == batch(4)
    assert len(objects.names()) == 4


def test_small_commits_go_into_the_table(
    relayed: RelayedPostgres,
    objects: Objects,
    store: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store.storage.commit._object_commits.large_bytes = len(batch(0)) + 1
    store.keep(0)
    store.append(1)
    store.append(2)
    assert store.commit() is None
    store.keep(3)
    assert [objects.data(name) for name in relayed.objects()] == [batch(1) + batch(2)]
    assert in_tables(relayed) == 2
    assert store.read() == batch(0)  # what begins in a table ends there
    assert store.read(1) == batch(1) + batch(2) + batch(3)


def test_a_log_is_read_on_in_an_object_behind_a_table_of_which_nothing_is_left(
    store: RelayedStore,
) -> None:
    store.storage.commit._object_commits.large_bytes = 1000
    store.keep(0)
    store.append(1, b"x" * 1000)
    assert store.commit() is None
    store.patiently(lambda: store.storage.log.replace(1, 0, 0, [], []))
    assert store.commit() is None
    runs, tails = store.storage.log._contents.runs, store.storage.log._contents.tails
    assert [tails.object_of(one.tail) is None for one in runs.of(1)] == [True, False]
    assert store.read() == batch(1, b"x" * 1000)


def test_a_bucket_that_fails_stops_no_commit(
    relayed: RelayedPostgres,
    objects: Objects,
    store: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store.keep(0)
    put_soon = Bucket.put_soon

    def fail(bucket: Bucket, name: str, data: bytes) -> None:
        put_soon(bucket, name, data)  # the response was lost
        raise ObjectsFailed("the bucket is away")

    monkeypatch.setattr(Bucket, "put_soon", fail)
    store.keep(1)
    assert store.storage.objects is not None
    assert store.storage.objects.not_sealed() == "the bucket is away"
    monkeypatch.setattr(Bucket, "put_soon", put_soon)
    store.keep(2)  # not tried again so soon
    assert in_tables(relayed) == 2
    store.storage.commit._object_commits._pause._until_s = 0
    assert store.storage.objects.not_sealed() == "the bucket is away", "nothing is written yet"
    store.keep(3)
    assert store.storage.objects.not_sealed() is None
    assert store.read() == BATCHES
    start_again(relayed, store)
    assert sorted(relayed.objects()) == objects.names()
    assert len(objects.names()) == 3


def test_a_lost_response_is_resolved(
    relayed: RelayedPostgres, objects: Objects, store: RelayedStore
) -> None:
    """The commit is persisted, with its object."""
    store.keep(0)
    held, running = held_commit(relayed, store)
    relayed.relay.cut_at_response()
    held.release()
    assert running.outcome() is None
    assert sorted(relayed.objects()) == objects.names() and len(objects.names()) == 2
    assert in_tables(relayed) == 0
    assert store.read() == batch(0) + batch(1)


def test_what_was_not_persisted_goes_into_the_table(
    relayed: RelayedPostgres, objects: Objects, store: RelayedStore
) -> None:
    """Under a new session, in which others may take the object for forgotten."""
    store.keep(0)
    held, running = held_commit(relayed, store)
    relayed.execute("select pg_terminate_backend(pid, 10000) from pg_locks where not granted")
    held.release()
    assert running.outcome() is None
    assert in_tables(relayed) == 1
    assert store.read() == batch(0) + batch(1)
    store.keep(2, 3)
    assert store.read() == BATCHES
    start_again(relayed, store)
    assert sorted(relayed.objects()) == objects.names() and len(objects.names()) == 4


def test_many_small_objects_become_a_large_one(
    relayed: RelayedPostgres,
    objects: Objects,
    store: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tails, "_SMALL_OBJECTS", 10)
    log, expected = store.storage.log, {1: b"", 2: b""}
    for offset in range(30):
        for partition_id in (1, 2):
            one = batch(offset, b"%d" % partition_id)
            log.append(partition_id, offset, one, 1000 + offset)
            expected[partition_id] += one
        if offset == 5:
            store.trim(3)
        assert store.commit() is None
        store.keep_up()
    assert len(objects.names()) < 10
    assert relayed.execute("select count(*) from ottla_runs where partition_id = 2") < [(10,)]
    start_bytes = 3 * len(batch(0, b"1"))
    expected[1] = expected[1][start_bytes:]

    def check(opened: RelayedStore, partition_id: int, start: int) -> None:
        log = opened.storage.log
        log._contents.cache.clear()
        found = opened.patiently(lambda: log.read(partition_id, start, 1 << 62, 1 << 62, True))
        assert found == expected[partition_id]
        assert opened.patiently(lambda: log.at_timestamp(partition_id, 1010)) == 10

    check(store, 1, 3)
    check(store, 2, 0)
    store.close()
    again = relayed.open(more=TO_OBJECTS)
    check(again, 1, 3)
    check(again, 2, 0)


@pytest.mark.parametrize("is_cut", [False, True])
def test_a_small_object_that_cannot_be_read_is_left_aside(
    relayed: RelayedPostgres,
    objects: Objects,
    store: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
    is_cut: bool,
) -> None:
    monkeypatch.setattr(tails, "_SMALL_OBJECTS", 4)
    store.keep(0, 1)
    [missing, _] = relayed.objects()
    if is_cut:
        objects.put(missing, objects.data(missing)[:-1])
    else:
        objects.delete(missing)
    store.keep(2, 3)
    store.keep_up()
    assert store.storage.objects is not None
    assert missing in (store.storage.objects.not_sealed() or "")
    store.keep(4)
    store.keep_up()
    [_, joined, single] = relayed.objects()
    assert objects.data(joined) == batch(1) + batch(2) + batch(3)
    assert set(objects.names()) - {missing} == {single, joined}
    assert store.read(1) == batch(1) + batch(2) + batch(3) + batch(4)
    with pytest.raises(StorageFailed, match=r"Entries are missing|shorter"):
        store.read()


def test_what_was_joined_is_not_joined_again(
    relayed: RelayedPostgres,
    objects: Objects,
    store: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With so few entries in one object that all joined ones are small."""
    monkeypatch.setattr(tails, "_SMALL_OBJECTS", 5)
    monkeypatch.setattr(sealing, "_MOST_ENTRIES", 4)
    write(store, range(10), (1, 2, 3))
    numbers = relayed.execute("select max(n) from ottla_tails")
    assert numbers < [(40,)]
    assert store.read() == b"".join(batch(offset) for offset in range(10))


@pytest.mark.parametrize("is_by_bytes", [False, True])
def test_small_objects_are_read_once(
    relayed: RelayedPostgres,
    objects: Objects,
    monkeypatch: pytest.MonkeyPatch,
    is_by_bytes: bool,
) -> None:
    """Also if all of them have more entries than one object takes, or a bit more bytes."""
    monkeypatch.setattr(tails, "_SMALL_OBJECTS", 1000 if is_by_bytes else 5)
    if not is_by_bytes:
        monkeypatch.setattr(sealing, "_MOST_ENTRIES", 7)
    reads: Counter[str] = Counter()
    read = Bucket.read

    def counted(self: Bucket, name: str, position: int, size_bytes: int) -> bytes:
        reads[name] += 1
        return read(self, name, position, size_bytes)

    monkeypatch.setattr(Bucket, "read", counted)
    tail_bytes = 8 << 10 if is_by_bytes else tails.TAIL_BYTES
    store = relayed.open(tail_bytes=tail_bytes, more=f"{objects.url}{TO_OBJECTS}")
    write(store, range(20), (1, 2, 3))
    assert len(reads) > 10
    assert set(reads.values()) == {1}
    assert set(reads).isdisjoint(objects.names())
    assert store.read_all() == b"".join(batch(offset) for offset in range(20))


def test_a_small_object_of_very_many_entries_is_joined_in_parts(
    relayed: RelayedPostgres,
    objects: Objects,
    store: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tails, "_SMALL_OBJECTS", 2)
    monkeypatch.setattr(sealing, "_MOST_ENTRIES", 2)
    log = store.storage.log
    write(store, range(4), range(1, 9))
    # One is left, and of each other one four parts.
    assert len(relayed.objects()) == 1 + 3 * 4
    for partition_id in range(1, 9):
        log._contents.cache.clear()
        read = partial(log.read, partition_id, 0, 1 << 62, 1 << 62, True)
        assert store.patiently(read) == BATCHES


def test_small_objects_that_are_full_are_not_written_again_after_a_start(
    relayed: RelayedPostgres,
    objects: Objects,
    store: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The start does not know which were joined."""
    monkeypatch.setattr(tails, "_SMALL_OBJECTS", 3)
    monkeypatch.setattr(sealing, "_MOST_ENTRIES", 3)
    write(store, range(4), (1, 2))
    before = objects.names()
    store.close()
    again = relayed.open(more=TO_OBJECTS)
    write(again, range(4, 7), (1,))
    assert set(before) <= set(objects.names())
    again.storage.log._contents.cache.clear()
    assert again.read_all() == b"".join(batch(offset) for offset in range(7))


def test_the_object_of_a_commit_that_is_refused_is_given_up(
    relayed: RelayedPostgres, objects: Objects, store: RelayedStore
) -> None:
    store.keep(0)
    relayed.execute("alter table ottla_rows add check (value <> 'refused'::bytea)")
    store.append(1, b"refused")
    assert isinstance(store.commit(), StorageFailed)
    assert len(objects.names()) == 2
    relayed.execute("alter table ottla_rows drop constraint ottla_rows_value_check")
    store.keep(1)
    assert len(relayed.objects()) == 2


def test_a_store_without_objects_refuses_it(relayed: RelayedPostgres) -> None:
    with pytest.raises(StorageUnusable, match=r"commit\.to=objects needs objects="):
        relayed.open(more="&commit.to=objects")
