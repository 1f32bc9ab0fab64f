"""A bucket that fails, hangs, or has lost something: what a store in PostgreSQL makes of it."""

from __future__ import annotations

import threading

import pytest

from application.ports.log_store import NotInMemory
from domain.errors import StorageFailed
from infrastructure.storage.errors import StorageUnusable
from infrastructure.storage.objects import bucket as buckets
from infrastructure.storage.objects.errors import ObjectsFailed
from infrastructure.storage.postgresql import opening, sealing, tails
from infrastructure.storage.postgresql.facts import BucketFacts, examined
from interfaces.main.__main__ import main
from tests.contract.batches import HEADER_BYTES, batch
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore
from tests.contract.s3_objects import ALL_SEALED, BATCHES, Objects
from tests.contract.tiny_tails import TINY, later
from tests.fakes.s3 import S3Server

pytestmark = [pytest.mark.usefixtures("at_once", "s3"), later]


def not_sealed(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> RelayedStore:
    """Offsets 0 and 1 are in tables that are full: the bucket has failed."""

    def fail(self: buckets.Bucket, name: str, data: bytes) -> None:
        raise ObjectsFailed("the bucket is on fire")

    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}{ALL_SEALED}")
    with monkeypatch.context() as failing:
        failing.setattr(buckets.Bucket, "put", fail)
        store.keep(0, 1)
        store.keep_up()
    return store


def test_what_cannot_be_written_stays_in_its_table(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = not_sealed(relayed, objects, monkeypatch)
    assert store.storage.commit.not_sealed() == "the bucket is on fire"
    assert objects.names() == []
    assert store.read() == batch(0) + batch(1)
    store.keep(2, 3)
    store.keep_up()
    assert store.storage.commit.not_sealed() is None
    assert store.read() == BATCHES
    assert objects.names() == sorted(relayed.objects())


def test_a_damaged_table_stops_no_other(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = not_sealed(relayed, objects, monkeypatch)
    damaged, *_ = relayed.execute("select tail from ottla_runs order by first_offset")[1]
    relayed.execute(
        "create function damaged() returns bytea as $$ begin raise exception"
        " 'invalid page in block 0' using errcode = 'data_corrupted'; end $$ language plpgsql",
        f"alter table ottla_tail_{damaged} rename to whole",
        f"create view ottla_tail_{damaged} as select partition_id, last_offset, size, timestamp,"
        " times, headers, damaged() as data from whole",
    )
    store.storage.commit.keep_up()
    store.keep_up()
    assert "invalid page in block 0" in (store.storage.commit.not_sealed() or "")
    assert list(map(objects.data, objects.names())) == [batch(0)]
    store.keep(2, 3)
    store.keep_up()
    assert "invalid page in block 0" in (store.storage.commit.not_sealed() or "")
    sealed = b"".join(map(objects.data, objects.names()))
    assert sorted(sealed) == sorted(batch(0) + batch(2) + batch(3))
    assert store.read() == batch(0)
    with pytest.raises(StorageFailed, match="invalid page in block 0"):
        store.read(1)
    assert store.read(2) == batch(2) + batch(3)


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
    assert sealed.storage.objects is not None
    assert sealed.storage.objects.missing() == [first]


@pytest.mark.parametrize("is_away", [False, True])
def test_what_is_before_an_object_that_cannot_be_read_is_read(
    relayed: RelayedPostgres,
    objects: Objects,
    sealed: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
    is_away: bool,
) -> None:
    third = relayed.objects()[2]
    if is_away:
        fail_reads(monkeypatch, third)
    else:
        objects.put(third, objects.data(third)[:-1] + b"!")
    assert sealed.read() == batch(0) + batch(1)
    with pytest.raises(StorageFailed, match="away" if is_away else "damaged at byte 0"):
        sealed.read(2)
    assert sealed.read(3) == batch(3)


def test_what_is_before_the_damage_in_an_object_is_read(
    relayed: RelayedPostgres, objects: Objects
) -> None:
    """And nothing behind it, also of the next object."""
    store = relayed.open(tail_bytes=8 << 10, more=f"{objects.url}{ALL_SEALED}")
    store.keep(*range(200))
    store.keep_up()
    first, *others = relayed.objects()
    assert others
    entries = "select last_offset, position, size from ottla_object_entries"
    [(offset, position, size), *_] = relayed.execute(f"{entries} where last_offset = 5")
    assert isinstance(offset, int) and isinstance(position, int) and isinstance(size, int)
    data = bytearray(objects.data(first))
    data[position + size - 1] ^= 1
    objects.put(first, bytes(data))
    assert store.read() == b"".join(batch(one) for one in range(offset))
    with pytest.raises(StorageFailed, match=f"damaged at byte {position}"):
        store.read(offset)
    assert store.read(offset + 1).startswith(batch(offset + 1))


def fail_reads(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Of these objects; without any, of all."""
    read = buckets.Bucket.read

    def fail(self: buckets.Bucket, name: str, position: int, size_bytes: int) -> bytes:
        if not names or name in names:
            raise ObjectsFailed("the bucket is away")
        return read(self, name, position, size_bytes)

    monkeypatch.setattr(buckets.Bucket, "read", fail)


def test_a_store_has_one_place_for_objects(
    relayed: RelayedPostgres, objects: Objects, sealed: RelayedStore, s3: S3Server
) -> None:
    sealed.close()
    other = s3.new_bucket()
    more = f"&objects=s3://{other}/a/b"
    expected = f"the store has its objects in s3://{objects.bucket}/a/b, not in s3://{other}/a/b"
    with pytest.raises(StorageUnusable) as refusal:
        relayed.open(more=more)
    assert str(refusal.value) == expected
    place = f"postgres@/postgres?host={relayed.server.folder}&schema={relayed.schema}"
    assert examined(place + more).bucket == BucketFacts("", expected)
    assert examined(place).bucket == BucketFacts(objects.shown, None)


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
    monkeypatch.setattr(buckets.Bucket.__init__, "__defaults__", (quick, quick, quick))
    again = relayed.open(tail_bytes=TINY, more=ALL_SEALED)
    with pytest.raises(StorageFailed, match="cannot be reached"):
        again.read()
    again.keep(4)
    assert again.read(4) == batch(4)


@pytest.mark.parametrize("command", ["verify", "info"])
def test_tools_say_that_the_bucket_cannot_be_read(
    relayed: RelayedPostgres,
    objects: Objects,
    sealed: RelayedStore,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:
    sealed.close()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    quick = buckets.Limits(request_s=0.2, retry_s=0.1)
    monkeypatch.setattr(buckets.Bucket.__init__, "__defaults__", (quick, quick, quick))
    where = f"postgresql://postgres@/postgres?host={relayed.server.folder}&schema={relayed.schema}"
    assert main(["storage", command, where]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"ottla: {objects.shown} cannot be listed: no credentials")
    assert printed.err.count("\n") == 1


def test_an_object_that_is_lost_stops_no_other(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = relayed.open(tail_bytes=8 << 10, more=f"{objects.url}{ALL_SEALED}")
    log = store.storage.log
    for offset in range(100):
        store.append(offset, b"x" * 1000)
        log.append(2, offset, batch(offset, b"slow"))
        assert store.commit() is None
        store.keep_up()
    before = objects.names()
    store.trim(100)
    assert store.commit() is None
    store.keep_up()
    known = log._contents.tails
    objects.delete(str(next(filter(None, map(known.object_of, sorted(known.known()))))))
    monkeypatch.setattr(tails, "_DEAD_TAILS", 0)
    for offset in range(100, 110):
        store.keep(offset)
        store.keep_up()
    assert len(objects.names()) < len(before) / 2


def test_what_no_commit_seals_is_given_up(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealing, "RETRY_S", 1000)
    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}{ALL_SEALED}")
    refused = "alter table ottla_object_entries add constraint refused check (false)"
    relayed.execute(refused)
    store.keep(0, 1)
    store.keep_up()
    assert "refused a commit" in str(store.storage.commit.not_sealed())
    relayed.execute("alter table ottla_object_entries drop constraint refused")
    store.storage.commit._sealing._pause._until_s = 0
    store.keep(2, 3)
    store.keep_up()
    assert store.storage.commit.not_sealed() is None
    relayed.execute("update ottla_tails set deleted = deleted - interval '1 hour'")
    store.close()
    again = relayed.open(tail_bytes=TINY, more=ALL_SEALED)
    again.keep(4)
    again.keep_up()
    assert again.read() == BATCHES + batch(4)
    assert objects.names() == sorted(relayed.objects())


@pytest.mark.parametrize("is_put", [True, False])
def test_what_is_not_sealed_for_another_reason_is_given_up(
    relayed: RelayedPostgres,
    objects: Objects,
    monkeypatch: pytest.MonkeyPatch,
    is_put: bool,
) -> None:
    """There is no thread for it, or a PUT fails in a way that is not known."""
    store = relayed.open(tail_bytes=TINY, more=f"{objects.url}{ALL_SEALED}")
    seals = store.storage.commit._sealing

    def fail(self: buckets.Bucket, name: str, data: bytes) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as failing:
        if is_put:
            failing.setattr(seals, "_seal", lambda new: False)
        else:
            failing.setattr(buckets.Bucket, "put", fail)
        store.keep(0)
        store.keep_up()
    store.keep(1)
    store.keep_up()
    assert store.storage.commit.not_sealed() is None
    unsealed = "select n from ottla_tails where session is not null and deleted is null"
    assert relayed.execute(unsealed) == []


def test_a_bucket_that_hangs_stops_no_read_of_a_table(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a log that goes on in an object."""
    more = f"{objects.url}&local.bytes=0&commit.to=objects"
    store = relayed.open(tail_bytes=8 << 10, more=more)
    store.storage.commit._object_commits.large_bytes = 1000
    log = store.storage.log
    for partition_id in range(1, 9):
        log.append(partition_id, 0, batch(0, size_bytes=1500))
    assert store.commit() is None
    store.keep_up()
    log.append(99, 0, batch(0))
    assert store.commit() is None
    log.append(99, 1, batch(1, size_bytes=1500))
    assert store.commit() is None
    assert len(relayed.objects()) == 2
    log._contents.cache.clear()
    go_on, read = threading.Event(), buckets.Bucket.read

    def hang(self: buckets.Bucket, name: str, position: int, size_bytes: int) -> bytes:
        go_on.wait()
        return read(self, name, position, size_bytes)

    monkeypatch.setattr(buckets.Bucket, "read", hang)
    for partition_id in range(1, 9):
        with pytest.raises(NotInMemory):
            log.read(partition_id, 0, 1 << 62, 1 << 62, True)
    try:
        assert store.patiently(lambda: log.read(99, 0, 1 << 62, 1 << 62, True)) == batch(0)
        headers = store.patiently(lambda: log.headers(99, 1, 10))
        assert headers == [batch(1, size_bytes=1500)[:HEADER_BYTES]]
    finally:
        go_on.set()
    rest = store.patiently(lambda: log.read(99, 1, 1 << 62, 1 << 62, True))
    assert rest == batch(1, size_bytes=1500)
