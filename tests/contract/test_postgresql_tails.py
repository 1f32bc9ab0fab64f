"""Tails in PostgreSQL: begun, read, moved and dropped, also while connections are lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from time import monotonic

import psycopg
import pytest

from infrastructure.storage.errors import StorageDamaged
from infrastructure.storage.postgresql import commit, dropping, questions, tails
from infrastructure.storage.postgresql.questions import Answer, Ask
from infrastructure.storage.postgresql.reading import Question
from infrastructure.storage.postgresql.runs import LogRuns, Run, Span
from tests.contract.batches import batch
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore, Taking
from tests.contract.tiny_tails import OF_THE_COMMIT, TINY, later, read_slow

pytestmark = pytest.mark.usefixtures("at_once")


@pytest.fixture
def tiny(relayed: RelayedPostgres) -> RelayedStore:
    """Offsets 0 to 3, each in a tail of its own; the next one is empty."""
    store = relayed.open(tail_bytes=TINY)
    store.keep(0, 1, 2, 3)
    store.keep_up()
    return store


def backup(relayed: RelayedPostgres, tail: int) -> Iterator[None]:
    """Reads the table, as pg_dump does."""
    with psycopg.connect(
        host=str(relayed.server.folder), user="postgres", dbname="postgres"
    ) as reading:
        reading.execute(f"select count(*) from {relayed.schema}.ottla_tail_{tail}".encode())
        yield
        reading.rollback()


# ---- new tails


def test_a_new_tail_begins_when_one_is_full(relayed: RelayedPostgres, tiny: RelayedStore) -> None:
    assert relayed.tails() == [1, 2, 3, 4, 5]
    assert relayed.execute("select tail from ottla_fences") == [(5,)]
    assert relayed.execute("select first_offset, tail from ottla_runs order by 1") == [
        (0, 1), (1, 2), (2, 3), (3, 4),
    ]  # fmt: skip
    assert relayed.last_offsets() == [0, 1, 2, 3]
    assert tiny.read() == b"".join(batch(offset) for offset in range(4))


@later
def test_an_entry_is_found_behind_tails_of_which_compaction_has_left_nothing(
    relayed: RelayedPostgres, tiny: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest entries of the log were in two of them."""
    monkeypatch.setattr(tails, "_DEAD_TAILS", 1 << 30)
    log = tiny.storage.log
    for log_offset, offset in ((2, 3), (3, 2)):
        tiny.patiently(lambda offset=offset: log.replace(1, offset, offset, [], []))
        log.append(2, log_offset, batch(log_offset))
        assert tiny.commit() is None
        tiny.keep_up()
    tiny.keep(4)
    tiny.keep_up()
    assert tiny.read() == batch(0) + batch(1) + batch(4)
    runs = "select first_offset, tail from ottla_runs where partition_id = 1 order by 1"
    assert relayed.execute(runs) == list(log._contents.runs.of(1))
    tiny.keep(5)
    tiny.close()
    again = relayed.open(tail_bytes=TINY)
    assert again.read() == batch(0) + batch(1) + batch(4) + batch(5)


def test_a_store_is_opened_with_all_its_tails(relayed: RelayedPostgres, tiny: RelayedStore) -> None:
    tiny.close()
    again = relayed.open(tail_bytes=TINY)
    assert again.read(2) == batch(2) + batch(3)
    again.keep(4)
    again.keep_up()
    assert relayed.last_offsets() == [0, 1, 2, 3, 4]
    assert relayed.tails() == [1, 2, 3, 4, 5, 6]


@later
def test_what_is_dead_in_the_current_tail_is_known_after_the_next_start(
    relayed: RelayedPostgres,
) -> None:
    store = relayed.open()
    store.keep(0, 1)
    store.trim(1)
    assert store.commit() is None
    store.close()
    [(dead_bytes,)] = relayed.execute("select dead from ottla_tails")
    assert dead_bytes == len(batch(0))
    current = relayed.open().storage.log._contents.tails._tails[1]
    assert current.dead_bytes == dead_bytes


def test_a_new_tail_that_is_refused_begins_later(
    relayed: RelayedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "RETRY_S", 1000)
    store = relayed.open(tail_bytes=TINY)
    relayed.execute("create table ottla_tail_2 (one int)")
    store.keep(0, 1)
    store.keep_up()
    assert relayed.execute("select n from ottla_tails") == [(1,)]
    store.storage.commit._not_before_s = 0
    store.keep(2)
    store.keep_up()
    assert relayed.execute("select n from ottla_tails order by 1") == [(1,), (3,)]
    store.keep(3)
    assert relayed.execute("select first_offset, tail from ottla_runs order by 1") == [
        (0, 1), (3, 3),
    ]  # fmt: skip


@later
@pytest.mark.parametrize("responses", range(5))
def test_a_connection_is_lost_while_a_tail_begins(relayed: RelayedPostgres, responses: int) -> None:
    store = relayed.open(tail_bytes=TINY)
    relayed.relay.cut_at_response(OF_THE_COMMIT + responses)
    store.keep(0)
    store.keep_up()
    relayed.relay.wait()
    store.keep(1, 2)
    store.keep_up()
    assert relayed.last_offsets() == [0, 1, 2]
    assert len(relayed.tails()) == 4
    assert relayed.last_session()[1] == 6
    assert store.read() == batch(0) + batch(1) + batch(2)


@pytest.mark.parametrize(
    "damage, why",
    [
        ("drop table ottla_tail_5", "there is no ottla_tail_5"),
        ("delete from ottla_tails where n = 2", "ottla_tails has no row of ottla_tail_2"),
    ],
)
def test_a_store_without_some_of_its_tables_is_refused(
    relayed: RelayedPostgres, tiny: RelayedStore, damage: str, why: str
) -> None:
    """Of a backup that has not all of them."""
    tiny.close()
    relayed.execute(damage)
    with pytest.raises(StorageDamaged, match=why):
        relayed.open()


# ---- dropped tails


@later
def test_a_tail_that_retention_has_emptied_is_dropped(
    relayed: RelayedPostgres, tiny: RelayedStore
) -> None:
    tiny.trim(2)
    tiny.keep(4)
    tiny.keep_up()
    assert relayed.tails() == [3, 4, 5, 6]
    assert relayed.last_offsets() == [2, 3, 4]
    assert tiny.read() == batch(2) + batch(3) + batch(4)


@later
def test_tails_of_a_deleted_topic_are_dropped(relayed: RelayedPostgres, tiny: RelayedStore) -> None:
    assert tiny.patiently(lambda: tiny.storage.log.drop(1, 100))
    assert tiny.commit() is None
    tiny.keep_up()
    assert relayed.tails() == [5]
    assert relayed.execute("select * from ottla_runs") == []
    assert tiny.storage.log.partition_ids() == []


@later
def test_a_tail_that_was_left_is_dropped_after_the_next_start(
    relayed: RelayedPostgres, tiny: RelayedStore
) -> None:
    tiny.close()
    relayed.execute("delete from ottla_runs where first_offset = 0")
    again = relayed.open(tail_bytes=TINY)
    again.keep(4)
    again.keep_up()
    assert relayed.tails() == [2, 3, 4, 5, 6]


@later
def test_a_backup_delays_a_drop_and_no_commit(relayed: RelayedPostgres, tiny: RelayedStore) -> None:
    reading = backup(relayed, 1)
    next(reading)
    tiny.trim(1)
    tiny.keep(4, 5)
    tiny.keep_up()
    assert 1 in relayed.tails()
    next(reading, None)
    tiny.keep(6)
    tiny.keep_up()
    assert 1 not in relayed.tails()
    assert relayed.last_offsets() == [1, 2, 3, 4, 5, 6]


@later
def test_a_tail_that_cannot_be_dropped_stops_no_other(
    relayed: RelayedPostgres, tiny: RelayedStore
) -> None:
    """A view of an operator depends on it."""
    relayed.execute("create view depends as select * from ottla_tail_1")
    dropper = tiny.storage.commit._dropping
    dropper._next_search_s = 0.0
    tiny.trim(3)
    tiny.keep(4)
    tiny.keep_up()
    assert relayed.tails() == [1, 4, 5, 6]
    assert dropper._next_search_s > monotonic(), "others were looked for"
    assert tiny.storage.not_dropped is not None
    [why] = tiny.storage.not_dropped()
    expected = "tail 1: cannot drop table ottla_tail_1 because other objects depend on it"
    assert why == expected
    relayed.execute("drop view depends")
    tiny.keep(5)
    tiny.keep_up()
    assert relayed.tails() == [4, 5, 6, 7]
    assert not tiny.storage.not_dropped()


@later
@pytest.mark.parametrize("tail", [1, 5])
def test_the_database_says_what_may_be_dropped(
    relayed: RelayedPostgres, tiny: RelayedStore, tail: int
) -> None:
    """Another broker may refer to it by a run, or append to it."""
    tiny.storage.log._contents.tails.unused = (tail,)
    tiny.storage.commit._dropping.look()
    tiny.keep_up()
    assert relayed.tails() == [1, 2, 3, 4, 5]


@later
def test_a_server_that_is_away_is_not_asked_again_at_once(
    relayed: RelayedPostgres, tiny: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dropping, "RETRY_S", 1000.0)
    dropper = tiny.storage.commit._dropping
    dropper._next_search_s = 0.0
    relayed.relay.refuse()
    tiny.storage.keep_up()
    tiny.keep_up()
    assert dropper._not_before_s > monotonic()
    relayed.relay.accept()
    dropper._not_before_s = 0.0
    tiny.storage.keep_up()
    tiny.keep_up()
    assert dropper._next_search_s > monotonic()


@later
def test_a_broker_whose_session_is_over_drops_nothing(
    relayed: RelayedPostgres, tiny: RelayedStore
) -> None:
    Taking(relayed).take_and_commit()
    relayed.execute("delete from ottla_runs")
    tiny.storage.log._contents.tails.unused = (1,)
    tiny.storage.commit._dropping.look()
    tiny.keep_up()
    assert 1 in relayed.tails()


@later
def test_a_broker_whose_current_tail_was_dropped_is_over(
    relayed: RelayedPostgres, tiny: RelayedStore
) -> None:
    """By the one that has taken over the store."""
    Taking(relayed).take_and_commit()
    relayed.execute("drop table ottla_tail_5")
    tiny.append(4)
    assert "another broker has ended the session" in str(tiny.commit())


@later
@pytest.mark.parametrize("responses", range(9))
def test_a_connection_is_lost_while_a_tail_is_dropped(
    relayed: RelayedPostgres, tiny: RelayedStore, responses: int
) -> None:
    tiny.storage.log._contents.tails._most_bytes = 1 << 20
    tiny.trim(2)
    tiny.append(4)
    relayed.relay.cut_at_response(OF_THE_COMMIT + responses)
    assert tiny.commit() is None
    tiny.keep_up()
    relayed.relay.wait()
    tiny.keep(5, 6)
    tiny.keep_up()
    assert relayed.tails()[0] == 3
    assert relayed.last_offsets() == [2, 3, 4, 5, 6]


@later
def test_a_read_whose_tail_is_dropped_meanwhile_asks_again(
    relayed: RelayedPostgres, tiny: RelayedStore
) -> None:
    runs = tiny.storage.log._contents.runs
    asked: list[int] = []

    def moved_meanwhile(ask: Ask, found: LogRuns, values: tuple[int, ...]) -> Answer:
        asked.append(found[0].tail)
        runs.put(1, (Run(0, 1),))
        return ask(questions._LAST_OFFSET, Span(found[0].tail, 0, 10), 0)

    runs.put(1, (Run(0, 99),))
    question = Question(moved_meanwhile, 1, ())
    assert tiny.patiently(lambda: tiny.storage.log._reading.ask(question)) == [(0,)]
    assert asked == [99, 1]


# ---- all of it


@later
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 20))]
)
def test_any_faults_with_tiny_tails(relayed: RelayedPostgres, seed: int) -> None:
    chance = random.Random(seed)
    relay = relayed.relay
    store = relayed.open(tail_bytes=300)
    log = store.storage.log
    start, end = 0, 0
    slow: list[bytes] = []
    for number in range(60):
        store.append(end, b"%d" % number)
        end += 1
        if number % 5 == 0:
            slow.append(batch(len(slow), b"slow %d" % number))
            log.append(2, len(slow) - 1, slow[-1], number)
        if chance.random() < 0.2:
            start = chance.randrange(start, end - 1) if start < end - 1 else start
            store.trim(start)
        fault = chance.randrange(6)
        if fault == 0:
            relay.cut()
        elif fault < 3:
            relay.cut_at_response(chance.randrange(10))
        elif fault == 3:
            relay.cut_at_request()
        assert store.commit() is None
        if chance.random() < 0.3:
            store.keep_up()
        relay.pass_all()
    store.keep_up()
    assert relayed.last_offsets() == list(range(start, end))
    assert read_slow(store) == b"".join(slow)
    before = store.read()
    store.close()
    again = relayed.open(tail_bytes=300)
    assert again.read() == before
    assert read_slow(again) == b"".join(slow)
    relayed.tails()
