"""Stores with tables of an older format are migrated by the broker that opens them."""

from __future__ import annotations

from functools import partial

import pytest

from infrastructure.storage.errors import StorageOtherFormat
from infrastructure.storage.postgresql import migrations, opening
from infrastructure.storage.postgresql.entries import Growing
from tests.contract.batches import batch
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore

#: As the version with format 1 has made them.
_FORMAT_1 = (
    """create table ottla_store (
        one boolean primary key default true check (one),
        id text not null, format integer not null, session bigint not null, seq bigint not null,
        starts integer not null default 0
        ) with (fillfactor = 50)""",
    "create table ottla_sessions (session bigint primary key, last_seq bigint not null)",
    """create table ottla_rows (
        "table" text collate "C" not null, place bytea not null, key bytea, value bytea not null,
        primary key ("table", place)) with (fillfactor = 80)""",
    """create table ottla_entries (
        partition_id bigint not null, last_offset bigint not null, size integer not null,
        timestamp bigint, times bytea, headers bytea not null, data bytea not null,
        primary key (partition_id, last_offset))""",
    "alter table ottla_entries alter data set storage external",
    """create index ottla_timestamps on ottla_entries (partition_id, timestamp, last_offset)
        where timestamp is not null""",
    """alter table ottla_rows set (autovacuum_vacuum_scale_factor = 0,
        autovacuum_vacuum_threshold = 1000)""",
    "insert into ottla_store (id, format, session, seq, starts) values ('its id', 1, 5, 3, 4)",
    "insert into ottla_rows values ('t', 'kept', null, 'value')",
)
#: Partition id, last offset and timestamp.
_ENTRIES = ((1, 9, 1000), (1, 19, 2000), (7, 5, 500), (1 << 40, 2, 3000))


def entry(last_offset: int, timestamp: int) -> tuple[bytes, bytes, bytes]:
    growing = Growing()
    one = batch(last_offset, b"of format 1", first_offset=last_offset - 1)
    growing.add(last_offset, one, [(timestamp, last_offset)])
    made = growing.entry(1)
    return made.times, made.headers, made.data


@pytest.fixture
def older(relayed: RelayedPostgres) -> RelayedPostgres:
    """With a store of format 1."""
    relayed.server.execute(f"create schema {relayed.schema}")
    relayed.execute(*_FORMAT_1)
    for partition_id, last_offset, timestamp in _ENTRIES:
        times, headers, data = (f"'\\x{one.hex()}'" for one in entry(last_offset, timestamp))
        relayed.execute(
            f"insert into ottla_entries values ({partition_id}, {last_offset}, {len(data)},"
            f" {timestamp}, {times}, {headers}, {data})"
        )
    return relayed


def check(store: RelayedStore) -> None:
    log = store.storage.log
    assert log.partition_ids() == [1, 7, 1 << 40]
    assert store.storage.info.store_id == "its id"
    assert store.storage.state.get("t", b"kept") == b"value"
    assert store.read() == entry(9, 1000)[2] + entry(19, 2000)[2]
    found = [store.patiently(lambda at=at: log.at_timestamp(1, at)) for at in (1000, 2000, 2001)]
    assert found == [0, 10, 20]
    [header, _] = store.patiently(lambda: log.headers(1, 0, 5))
    assert header == entry(9, 1000)[1]


def test_a_store_of_format_1_goes_on(older: RelayedPostgres) -> None:
    store = older.open()
    check(store)
    assert store.storage.info.losses == 4
    store.storage.log.append(7, 8, batch(8), 600)
    assert store.commit() is None
    store.close()
    check(older.open())
    assert [offset for offset, _ in older.entries(7)] == [5, 8]
    assert older.tails() == [1, 2]


def test_its_entries_go_as_those_of_any_tail(older: RelayedPostgres) -> None:
    store = older.open(tail_bytes=1)
    store.keep(20)
    store.keep_up()
    assert older.tails() == [1, 2, 3]
    for partition_id in (1, 7, 1 << 40):
        assert store.patiently(partial(store.storage.log.drop, partition_id, 100))
    assert store.commit() is None
    store.keep_up()
    if store.is_later:
        assert older.tails() == [3]


def test_the_tables_are_those_of_a_new_store(older: RelayedPostgres) -> None:
    tables_of = (
        "select relname, relkind, relpersistence, reloptions, attname, atttypid, attnotnull,"
        " attstorage, pg_get_indexdef(c.oid) is null,"
        f" replace(pg_get_expr(adbin, adrelid), '{older.schema}.', '')"
        " from pg_class c join pg_attribute a on attrelid = c.oid"
        " left join pg_attrdef on adrelid = c.oid and adnum = attnum"
        f" where relnamespace = '{older.schema}'::regnamespace and attnum > 0 and not attisdropped"
        " and relname !~ '^ottla_tail_[2-9]'"
        " order by relname, attname"
    )
    older.open().close()
    migrated = older.execute(tables_of)
    older.execute(f"drop schema {older.schema} cascade")
    older.open().close()
    assert older.execute(tables_of) == migrated


def test_all_steps_or_none(older: RelayedPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = (*migrations._TO_TAILS, "select 1 / 0")
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "_TO_TAILS", steps)
        with pytest.raises(opening.StorageUnusable, match="division by zero"):
            older.open()
    check(older.open())


def test_a_broker_that_runs_keeps_its_tables(older: RelayedPostgres) -> None:
    """It is of the older version."""
    with older.connected() as broker:
        broker.execute("select pg_advisory_lock(hashtext('ottla'), hashtext(current_schema()))")
        with pytest.raises(opening.StorageUnusable, match="in use by process"):
            older.open()
    assert older.execute("select format from ottla_store") == [(1,)]
    check(older.open())


def test_a_tool_that_only_reads_migrates_nothing(older: RelayedPostgres) -> None:
    place = f"postgres@/postgres?host={older.server.folder}&schema={older.schema}"
    with pytest.raises(StorageOtherFormat) as refusal:
        opening.opened(place, "commit", None, read_only=True)
    assert str(refusal.value) == (
        "it has format 1; this version of Ottla reads format 4 only;"
        " a broker that starts migrates it"
    )
    check(older.open())


def test_brokers_of_an_older_version_are_refused(relayed: RelayedPostgres) -> None:
    relayed.open().close()
    relayed.execute(
        "alter table ottla_tails drop object, drop session, drop deleted",
        "drop table ottla_object_entries",
        "alter table ottla_store drop objects, drop delete_delay_ms",
        "update ottla_store set format = 3",
        "insert into ottla_brokers values (7, clock_timestamp() + interval '1 hour', false, 0,"
        " '', '{}')",
    )
    with pytest.raises(opening.StorageUnusable, match="of an older version use the database: 7"):
        relayed.open()
    assert relayed.execute("select format from ottla_store") == [(3,)]
    # It can renew its lease only when the server is back.
    relayed.execute(
        "update ottla_brokers set until = clock_timestamp()",
        "insert into ottla_fences (node_id, session, seq, tail) values (7, 70, 700, 1)",
    )
    relayed.open()
    assert relayed.execute("select session from ottla_fences where node_id = 7") == [(0,)]
    assert relayed.execute("select last_seq from ottla_sessions where session = 70") == [(700,)]
