"""Entries in PostgreSQL that are moved to another tail, also while connections are lost."""

from __future__ import annotations

import random

import pytest

from infrastructure.storage.postgresql import commit, moving, tails
from tests.contract.batches import batch
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore
from tests.contract.tiny_tails import OF_THE_COMMIT, TINY, keep_up_at_once, later


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_up_at_once(monkeypatch)


SLOW = b"".join(batch(offset, b"slow") for offset in range(3))


def read_slow(store: RelayedStore) -> bytes:
    store.storage.log._contents.cache.clear()
    read: bytes = store.patiently(lambda: store.storage.log.read(2, 0, 1 << 62, 1 << 62, True))
    return read


@pytest.fixture
def mixed(relayed: RelayedPostgres, monkeypatch: pytest.MonkeyPatch) -> RelayedStore:
    """Two logs in three tails. One is trimmed; from the next commit on the other one is moved."""
    monkeypatch.setattr(tails, "_DEAD_TAILS", 1 << 30)
    store = relayed.open(tail_bytes=TINY)
    log = store.storage.log
    for offset in range(3):
        store.append(offset, b"x" * 1000)
        log.append(2, offset, batch(offset, b"slow"), 1000 + offset)
        assert store.commit() is None
        store.keep_up()
    store.trim(3)
    assert store.commit() is None
    store.keep_up()
    assert relayed.tails() == [1, 2, 3, 4]
    monkeypatch.setattr(tails, "_DEAD_TAILS", 0)
    log._contents.tails._look()
    return store


@later
def test_a_slow_log_does_not_keep_tails(relayed: RelayedPostgres, mixed: RelayedStore) -> None:
    mixed.keep(3)
    mixed.keep_up()
    assert relayed.tails()[0] > 3
    assert [offset for offset, _ in relayed.entries(2)] == [0, 1, 2]
    assert read_slow(mixed) == SLOW
    log = mixed.storage.log
    found = [mixed.patiently(lambda at=at: log.at_timestamp(2, at)) for at in (1000, 1002, 1003)]
    assert found == [0, 2, 3]
    mixed.close()
    again = relayed.open(tail_bytes=TINY)
    assert read_slow(again) == SLOW


@later
@pytest.mark.parametrize("responses", range(9))
def test_a_connection_is_lost_while_entries_are_moved(
    relayed: RelayedPostgres, mixed: RelayedStore, responses: int
) -> None:
    """The first three are those of a move."""
    mixed.storage.log._contents.tails._most_bytes = 1 << 20
    mixed.append(3)
    relayed.relay.cut_at_response(OF_THE_COMMIT + responses)
    assert mixed.commit() is None
    mixed.keep_up()
    relayed.relay.wait()
    mixed.keep(4, 5)
    mixed.keep_up()
    relayed.tails()
    assert [offset for offset, _ in relayed.entries(2)] == [0, 1, 2]
    assert read_slow(mixed) == SLOW
    assert relayed.last_offsets() == [3, 4, 5]


@later
@pytest.mark.parametrize("moved_bytes, moves", [(1 << 20, 1), (500, 2), (1, 10)])
def test_many_logs_are_moved_at_once(
    relayed: RelayedPostgres, monkeypatch: pytest.MonkeyPatch, moved_bytes: int, moves: int
) -> None:
    monkeypatch.setattr(moving, "MOVED_BYTES", moved_bytes)
    store = relayed.open(tail_bytes=10_000)
    log = store.storage.log
    store.append(0, b"x" * 10_000)
    logs = range(10, 20)
    for partition_id in logs:
        log.append(partition_id, 5, batch(5))
    assert store.commit() is None
    store.keep_up()
    for partition_id in logs:
        log.append(partition_id, 6, batch(6), 1000)
    store.trim(1)
    assert store.commit() is None
    store.keep_up()
    assert relayed.tails() == [2]
    # Two commits, and a new tail.
    assert relayed.last_session()[1] == 3 + moves
    for partition_id in logs:
        assert [offset for offset, _ in relayed.entries(partition_id)] == [5, 6]


@later
@pytest.mark.parametrize("kind", ["trim", "replace", "append", "drop"])
def test_what_is_staged_while_entries_are_moved(
    relayed: RelayedPostgres, mixed: RelayedStore, kind: str
) -> None:
    """It was decided by the runs as they were before."""
    log = mixed.storage.log
    expected = SLOW
    if kind == "trim":
        assert mixed.patiently(lambda: log.trim(2, 1, 10)).size_bytes == len(SLOW) // 3
        expected = SLOW[len(SLOW) // 3 :]
    elif kind == "replace":
        mixed.patiently(lambda: log.replace(2, 0, 1, [batch(1, b"new", 0)], [(1001, 1)]))
        expected = batch(1, b"new", 0) + batch(2, b"slow")
    elif kind == "append":
        log.append(2, 3, batch(3, b"slow"), 1003)
        expected = SLOW + batch(3, b"slow")
    else:
        assert mixed.patiently(lambda: log.drop(2, 10))
        expected = b""
    staged = log._contents.end_pass()
    mixed.keep(3)
    mixed.keep_up()
    assert relayed.tails()[0] > 3, "all was moved"
    log._contents.staged = staged
    assert mixed.commit() is None
    mixed.keep_up()
    assert read_slow(mixed) == expected
    assert b"".join(data for _, data in relayed.entries(2)) == expected
    relayed.tails()


@later
def test_a_busy_store_moves_too(
    relayed: RelayedPostgres, mixed: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is always something staged when a commit ends."""
    monkeypatch.setattr(commit, "_COMMITS_A_MOVE", 5)
    monkeypatch.setattr(mixed.storage.log._contents.tails, "_most_bytes", 1 << 20)
    for offset in range(3, 30):
        if not mixed.storage.log._contents.staged:
            mixed.append(offset)
        running = mixed.begin()
        mixed.append(offset + 1)
        assert running.outcome() is None
    mixed.keep_up()
    assert relayed.tails()[0] > 3
    assert read_slow(mixed) == SLOW


# ---- all of it


@later
@pytest.mark.parametrize("seed", range(3))
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
