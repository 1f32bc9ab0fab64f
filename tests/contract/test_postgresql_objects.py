"""Full tails are sealed into objects of a real S3 server, read there, and deleted there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.objects import bucket as buckets
from infrastructure.storage.objects.errors import ObjectsFailed
from infrastructure.storage.postgresql import opening, questions, tails
from infrastructure.storage.postgresql.questions import Answer, Ask
from infrastructure.storage.postgresql.runs import LogRuns
from infrastructure.storage.postgresql.tails import TailRow
from tests.contract.batches import batch
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore
from tests.contract.s3_objects import Objects
from tests.contract.tiny_tails import TINY, later
from tests.fakes.s3 import S3Server

pytestmark = [pytest.mark.usefixtures("at_once", "s3"), later]

ALL_SEALED = "&local.bytes=0&delete.delay.ms=0"
BATCHES = b"".join(batch(offset) for offset in range(4))


@pytest.fixture
def sealed(relayed: RelayedPostgres, objects: Objects) -> RelayedStore:
    """Offsets 0 to 3, each in an object of its own."""
    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}{ALL_SEALED}")
    store.keep(0, 1, 2, 3)
    store.keep_up()
    return store


def test_full_tails_are_objects_and_their_tables_are_gone(
    relayed: RelayedPostgres, objects: Objects, sealed: RelayedStore
) -> None:
    assert len(relayed.tails()) == 1
    names = relayed.objects()
    assert sorted(names) == objects.names()
    assert b"".join(objects.data(name) for name in names) == BATCHES
    assert all(name.startswith(sealed.storage.info.store_id) for name in names)
    assert sealed.read() == BATCHES
    sealed.close()
    again = relayed.open(tail_bytes=TINY, more=ALL_SEALED)  # it knows where they are
    assert again.read() == BATCHES
    again.keep(4)
    again.keep_up()
    assert len(objects.names()) == 5


def test_entries_of_a_log_are_joined(relayed: RelayedPostgres, objects: Objects) -> None:
    """64 KiB: tails of 13 commits, objects of 8 KiB, pieces of 256 bytes."""
    store = relayed.open(tail_bytes=64 << 10, more=f"{objects.url}{ALL_SEALED}")
    log = store.storage.log
    for offset in range(300):
        for partition_id in (1, 2):
            one = batch(offset, b"%d" % partition_id, size_bytes=90 if offset % 3 else 500)
            log.append(partition_id, offset, one, 1000 + offset)
        assert store.commit() is None
        store.keep_up()
    assert len(relayed.tails()) == 1
    for partition_id in (1, 2):
        [(pieces, offsets)] = relayed.execute(
            "select count(*), max(last_offset) from ottla_pieces"
            f" where partition_id = {partition_id}"
        )
        assert isinstance(pieces, int) and isinstance(offsets, int)
        assert 100 < pieces < offsets
        log._contents.cache.clear()
        found = [
            store.patiently(lambda at=at, of=partition_id: log.at_timestamp(of, at))
            for at in (1000, 1150, 1299)
        ]
        assert found == [0, 150, 299]
        for offset in (0, 1, 2, 150, 151):
            headers = store.patiently(lambda at=offset, of=partition_id: log.headers(of, at, 3))
            assert headers[0] == batch(offset, size_bytes=90 if offset % 3 else 500)[:61]


def test_an_object_without_runs_is_deleted(
    relayed: RelayedPostgres, objects: Objects, sealed: RelayedStore
) -> None:
    sealed.trim(2)
    assert sealed.commit() is None
    sealed.keep_up()
    left = relayed.objects()
    assert len(left) == 2 and objects.names() == sorted(left)
    assert relayed.execute("select count(*) from ottla_pieces") == [(2,)]
    assert relayed.execute("select from ottla_tails where deleted is not null") == []
    assert sealed.read(2) == batch(2) + batch(3)


def test_it_stays_in_the_bucket_until_the_delay_is_over(
    relayed: RelayedPostgres, objects: Objects
) -> None:
    more = f"{objects.url}&local.bytes=0&delete.delay.ms=3600000"
    store = relayed.open(tail_bytes=TINY, more=more)
    store.keep(0, 1)
    store.keep_up()
    store.trim(2)
    assert store.commit() is None
    store.keep_up()
    assert relayed.objects() == [] and len(objects.names()) == 2
    store.close()
    relayed.execute("update ottla_tails set deleted = deleted - interval '1 hour'")
    again = relayed.open(tail_bytes=TINY, more=more)
    again.keep(2)
    again.keep_up()
    assert len(objects.names()) == 1


def test_so_many_bytes_stay_in_tables(relayed: RelayedPostgres, objects: Objects) -> None:
    of_two = 2 * len(batch(0))
    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}&local.bytes={of_two}")
    store.keep(0, 1, 2, 3)
    store.keep_up()
    assert len(objects.names()) == 2
    assert len(relayed.tails()) == 3
    assert store.read() == BATCHES


def test_mostly_dead_objects_are_written_anew(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = relayed.open(tail_bytes=8 << 10, more=f"{objects.url}{ALL_SEALED}")
    log = store.storage.log
    slow = b""
    for offset in range(100):
        store.append(offset, b"x" * 1000)
        if offset % 10 == 0:
            slow += (one := batch(offset, b"slow"))
            log.append(2, offset, one, 1000 + offset)
        assert store.commit() is None
        store.keep_up()
    before = objects.names()
    store.trim(100)
    assert store.commit() is None
    store.keep_up()
    monkeypatch.setattr(tails, "_DEAD_TAILS", 0)
    store.keep(100)
    store.keep_up()
    after = objects.names()
    assert len(after) < len(before) / 2
    assert sum(len(objects.data(name)) for name in after) < 4 * len(slow)
    log._contents.cache.clear()
    assert store.patiently(lambda: log.read(2, 0, 1 << 62, 1 << 62, True)) == slow
    assert store.patiently(lambda: log.at_timestamp(2, 1090)) == 81
    store.close()
    again = relayed.open(tail_bytes=8 << 10, more=ALL_SEALED)
    read = again.storage.log.read
    assert again.patiently(lambda: read(2, 0, 1 << 62, 1 << 62, True)) == slow


# ---- what changes while an object is written


def when_written(
    monkeypatch: pytest.MonkeyPatch, store: RelayedStore, change: Callable[[], None]
) -> None:
    """Once an object is in the bucket, and before it is sealed."""
    seals = store.storage.commit._sealing
    seal, done = seals._seal, []

    def changed(new: object) -> bool:
        if not done:
            done.append(new)
            change()
        return bool(seal(new))

    monkeypatch.setattr(seals, "_seal", changed)


@pytest.mark.parametrize("trimmed", [0, 1, 3, 4])
def test_a_log_is_trimmed_meanwhile(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch, trimmed: int
) -> None:
    store = relayed.open(tail_bytes=1000, more=f"{objects.url}{ALL_SEALED}")
    store.keep(0, 1, 2)

    def trim() -> None:
        store.trim(trimmed)
        outcomes: list[StorageFailed | None] = []
        store.storage.commit.commit(outcomes.append)

    when_written(monkeypatch, store, trim)
    store.keep(3)
    store.append(4, b"x" * 1000)
    assert store.commit() is None
    store.keep_up()
    store.keep(5)
    store.keep_up()
    expected = b"".join(batch(offset) for offset in range(trimmed, 4))
    expected += batch(4, b"x" * 1000) + batch(5)
    assert store.read(trimmed) == expected
    assert len(relayed.tails()) == 1
    assert objects.names() == sorted(relayed.objects())
    store.close()
    assert relayed.open(tail_bytes=1000).read(trimmed) == expected


def test_a_log_is_compacted_meanwhile(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = relayed.open(tail_bytes=1000, more=f"{objects.url}{ALL_SEALED}")
    store.keep(0, 1, 2)
    compacted = batch(1, b"compacted", first_offset=0)

    def compact() -> None:
        store.patiently(lambda: store.storage.log.replace(1, 0, 1, [compacted], []))
        store.storage.commit.commit(lambda outcome: None)

    when_written(monkeypatch, store, compact)
    store.append(3, b"x" * 1000)
    assert store.commit() is None
    store.keep_up()
    expected = compacted + batch(2) + batch(3, b"x" * 1000)
    assert store.read() == expected
    store.keep(4)
    store.keep_up()
    assert store.read() == expected + batch(4)
    store.close()
    assert relayed.open(tail_bytes=1000).read() == expected + batch(4)


def test_a_broker_dies_before_it_is_sealed(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = f"{objects.url}{ALL_SEALED}"
    store = relayed.open(tail_bytes=TINY, more=more)
    monkeypatch.setattr(store.storage.commit._sealing, "_seal", lambda new: False)
    store.keep(0, 1)
    store.keep_up()
    forgotten = objects.names()
    assert forgotten
    store.close()
    again = relayed.open(tail_bytes=TINY, more=more)
    again.keep(2, 3)
    again.keep_up()
    assert again.read() == BATCHES
    assert objects.names() == sorted(relayed.objects())
    assert not set(forgotten) & set(objects.names())


def test_another_broker_deletes_what_looks_forgotten(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}{ALL_SEALED}")

    def delete() -> None:
        relayed.execute(
            "update ottla_tails set deleted = clock_timestamp() where session is not null"
        )

    when_written(monkeypatch, store, delete)
    store.keep(0)
    store.keep_up()
    assert store.read() == batch(0)
    store.keep(1)
    store.keep_up()
    assert store.read() == batch(0) + batch(1)
    assert objects.names() == sorted(relayed.objects())


@pytest.mark.parametrize("responses", range(12))
def test_a_connection_is_lost_while_an_object_is_sealed(
    relayed: RelayedPostgres, objects: Objects, responses: int
) -> None:
    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}{ALL_SEALED}")
    store.keep(0)
    relayed.relay.cut_at_response(responses + 1)
    store.keep(1, 2, 3)
    store.keep_up()
    relayed.relay.wait()
    assert store.read() == BATCHES
    store.close()
    again = relayed.open(tail_bytes=TINY, more=ALL_SEALED)
    again.keep(4)
    again.keep_up()
    assert again.read() == BATCHES + batch(4)
    assert len(relayed.tails()) == 1
    assert objects.names() == sorted(relayed.objects())


# ---- a bucket that fails


def test_what_cannot_be_written_stays_in_its_table(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}{ALL_SEALED}")
    with monkeypatch.context() as failing:

        def fail(self: object, name: str, data: bytes) -> None:
            raise ObjectsFailed("the bucket is on fire")

        failing.setattr(buckets.Bucket, "put", fail)
        store.keep(0, 1)
        store.keep_up()
        assert store.storage.commit.not_sealed() == "the bucket is on fire"
        assert objects.names() == [] == relayed.objects()
        assert store.read() == batch(0) + batch(1)
    store.keep(2, 3)
    store.keep_up()
    assert store.storage.commit.not_sealed() is None
    assert store.read() == BATCHES
    assert objects.names() == sorted(relayed.objects())


def test_a_missing_or_damaged_object_is_an_error_of_its_log(
    relayed: RelayedPostgres, objects: Objects, sealed: RelayedStore
) -> None:
    first, second, *_ = relayed.objects()
    whole = objects.data(second)
    sealed.storage.log._contents.cache.clear()
    objects.delete(first)
    with pytest.raises(StorageFailed, match=f"{first} is missing"):
        sealed.read()
    for damaged, message in ((whole[:-1], "shorter"), (whole[:-1] + b"!", "damaged at byte 0")):
        objects.put(second, damaged)
        with pytest.raises(StorageFailed, match=message):
            sealed.read(1)
    assert sealed.read(2) == batch(2) + batch(3)
    objects.put(second, whole)


def test_a_store_has_one_place_for_objects(
    relayed: RelayedPostgres, objects: Objects, sealed: RelayedStore, s3: S3Server
) -> None:
    sealed.close()
    other = s3.new_bucket()
    with pytest.raises(StorageUnusable) as refusal:
        relayed.open(more=f"&objects=s3://{other}/a/b")
    assert str(refusal.value) == (
        f"the store has its objects in s3://{objects.bucket}/a/b, not in s3://{other}/a/b"
    )


def test_a_bucket_that_cannot_be_used_is_refused_at_first(relayed: RelayedPostgres) -> None:
    with pytest.raises(StorageUnusable, match="no such bucket"):
        relayed.open(more="&objects=s3://no-such-bucket-of-ottla")
    assert relayed.execute("select objects from ottla_store") == [(None,)]


def test_a_store_opens_while_its_bucket_is_away(
    relayed: RelayedPostgres, sealed: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed.close()
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    monkeypatch.setattr(opening, "open_bucket", opening.open_bucket)
    quick = buckets.Limits(request_s=0.2, retry_s=0.1)
    monkeypatch.setattr(buckets.Bucket.__init__, "__defaults__", (quick, quick))
    again = relayed.open(tail_bytes=TINY, more=ALL_SEALED)
    with pytest.raises(StorageFailed, match="cannot be reached"):
        again.read()
    again.keep(4)
    assert again.read(4) == batch(4)


def test_a_read_goes_on_where_its_object_is_gone(
    relayed: RelayedPostgres,
    objects: Objects,
    sealed: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its pieces are deleted between two statements of the read."""
    contents = sealed.storage.log._contents
    first, second, *_ = contents.runs.of(1)
    name = contents.tails.object_of(second.tail)
    relayed.execute(
        "insert into ottla_tails (n, written, object) overriding system value"
        f" select 1000, written, object from ottla_tails where n = {second.tail}",
        "insert into ottla_pieces select 1000, partition_id, last_offset, size, timestamp, times,"
        f" position, crc from ottla_pieces where tail = {second.tail}",
    )
    batches, moved = questions.batches, []

    def moving(ask: Ask, runs: LogRuns, values: tuple[int, ...]) -> Answer:
        if not moved:
            moved.append(True)
            relayed.execute(f"delete from ottla_pieces where tail = {second.tail}")
            contents.tails.add_object(TailRow(1000, 61, 0, name))
            runs_now = (first, second._replace(tail=1000), *contents.runs.of(1)[2:])
            contents.runs.put(1, runs_now)
        return batches(ask, runs, values)

    monkeypatch.setattr(questions, "batches", moving)
    assert sealed.read() == BATCHES
