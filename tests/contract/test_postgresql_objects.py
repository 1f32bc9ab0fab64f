"""Full tails are sealed into objects of a real S3 server, read there, and deleted there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from domain.errors import StorageFailed
from infrastructure.storage.postgresql import log_store, questions, tails
from infrastructure.storage.postgresql.questions import Answer, Ask
from infrastructure.storage.postgresql.runs import LogRuns
from infrastructure.storage.postgresql.tails import TailRow
from tests.contract.batches import batch
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore
from tests.contract.s3_objects import ALL_SEALED, BATCHES, Objects
from tests.contract.tiny_tails import TINY, later
from tests.fakes.postgres_relay import TIMEOUT_S

pytestmark = [pytest.mark.usefixtures("at_once", "s3"), later]


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


def test_an_object_has_entries_of_several_logs(relayed: RelayedPostgres, objects: Objects) -> None:
    """Tails of 64 KiB, objects of 8 KiB."""
    store = relayed.open(tail_bytes=64 << 10, more=f"{objects.url}{ALL_SEALED}")
    log = store.storage.log
    for offset in range(300):
        for partition_id in (1, 2):
            one = batch(offset, b"%d" % partition_id, size_bytes=90 if offset % 3 else 500)
            log.append(partition_id, offset, one, 1000 + offset)
        assert store.commit() is None
        store.keep_up()
    assert len(relayed.tails()) == 1
    assert max(len(objects.data(name)) for name in objects.names()) < 9 << 10
    for partition_id in (1, 2):
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
    assert relayed.execute("select count(*) from ottla_object_entries") == [(2,)]
    assert relayed.execute("select from ottla_tails where deleted is not null") == []
    assert sealed.read(2) == batch(2) + batch(3)


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
    assert store.read_all() == expected
    store.keep(4)
    store.keep_up()
    assert store.read_all() == expected + batch(4)
    store.close()
    assert relayed.open(tail_bytes=1000).read_all() == expected + batch(4)


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
        "insert into ottla_object_entries select 1000, partition_id, last_offset, size, timestamp,"
        f" times, headers, position, crc from ottla_object_entries where tail = {second.tail}",
    )
    batches, moved = questions.batches, []

    def moving(ask: Ask, runs: LogRuns, values: tuple[int, ...]) -> Answer:
        if not moved:
            moved.append(True)
            relayed.execute(f"delete from ottla_object_entries where tail = {second.tail}")
            contents.tails.add_object(TailRow(1000, 61, 0, name))
            runs_now = (first, second._replace(tail=1000), *contents.runs.of(1)[2:])
            contents.runs.put(1, runs_now)
        return batches(ask, runs, values)

    monkeypatch.setattr(questions, "batches", moving)
    assert sealed.read() == BATCHES
    assert moved
    assert sealed.read(1) == BATCHES[len(batch(0)) :]


def test_a_reader_that_goes_on_has_the_next_object_already(
    objects: Objects, sealed: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that begins does not; a search, say, reads no further."""
    monkeypatch.setattr(log_store, "LOADED_BYTES", 1)
    log = sealed.storage.log
    log._contents.cache.clear()

    def read(offset: int) -> bytes:
        found: bytes = log.read(1, offset, offset + 1, 1 << 20, True)
        return found

    assert sealed.patiently(lambda: read(0)) == batch(0)
    assert not log._reading._waiting
    assert sealed.patiently(lambda: read(1)) == batch(1)
    while log._reading._waiting:
        sealed.callbacks.get(timeout=TIMEOUT_S)()
    for name in objects.names():
        objects.delete(name)
    assert read(2) == batch(2)


def test_what_was_trimmed_meanwhile_is_not_trimmed_again(
    relayed: RelayedPostgres, objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = relayed.open(tail_bytes=1000, more=f"{objects.url}{ALL_SEALED}")
    store.keep(0, 1, 2)
    log = store.storage.log

    def trim() -> None:
        store.trim(2)
        store.storage.commit.commit(lambda outcome: None)

    when_written(monkeypatch, store, trim)
    store.append(3, b"x" * 1000)
    assert store.commit() is None
    store.keep_up()
    assert store.patiently(lambda: log.trim(1, 2, 100)) == (0, True)


def test_entries_that_are_in_memory_and_in_an_object_are_the_same(
    relayed: RelayedPostgres, objects: Objects
) -> None:
    """Compaction decides by those in memory."""
    store = relayed.open(tail_bytes=1000, more=f"{objects.url}{ALL_SEALED}")
    store.keep(0, 1, 2)
    store.append(3, b"x" * 1000)
    assert store.commit() is None
    store.keep_up()
    log, compacted = store.storage.log, batch(1, b"compacted")
    store.patiently(lambda: log.replace(1, 1, 1, [compacted], []))
    assert store.commit() is None
    store.keep_up()
    expected = batch(0) + compacted + batch(2) + batch(3, b"x" * 1000)
    assert store.read() == expected
    store.patiently(lambda: log.replace(1, 2, 2, [], []))
    assert store.commit() is None
    assert store.read() == batch(0) + compacted + batch(3, b"x" * 1000)
