"""Reads over connections that are lost."""

from __future__ import annotations

import errno
import threading

import pytest

from application.ports.log_store import Buffer, NotInMemory
from domain.errors import StorageFailed
from domain.messages.batch import last_offset_of
from infrastructure.storage.postgresql import questions, reading
from infrastructure.storage.postgresql.plan import Plan
from infrastructure.storage.postgresql.reading import LOADED_BYTES, Question
from infrastructure.storage.postgresql.runs import ABOVE_ALL_OFFSETS
from infrastructure.storage.repositories.leader_rows import LEADERS
from tests.contract.batches import batch
from tests.contract.joined_brokers import JoinedBroker, JoinedBrokers
from tests.contract.relayed_postgres import (
    RelayedPostgres,
    RelayedStore,
)


def test_a_lost_reading_connection_is_made_again(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    opened.keep(1)
    relayed.relay.cut()
    assert opened.read(1)
    relayed.relay.cut_at_response()
    assert opened.read(1)


def test_a_read_while_the_server_is_away(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    relayed.relay.refuse()
    relayed.relay.cut()
    for _ in range(2):
        with pytest.raises(StorageFailed, match="could not be read"):
            opened.read()
    relayed.relay.accept()
    assert opened.read()


@pytest.mark.parametrize("relayed", ["later"], indirect=True)
def test_a_failed_read_that_was_abandoned_fails_no_later_one(
    relayed: RelayedPostgres, opened: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    relayed.relay.refuse()
    relayed.relay.cut()
    opened.storage.log._contents.cache.clear()
    with pytest.raises(NotInMemory):
        opened.storage.log.read(1, 0, 1 << 62, 1 << 62, True)
    opened.callbacks.get(timeout=10)()
    relayed.relay.accept()
    monkeypatch.setattr(reading, "_FAILURE_S", 0)
    assert opened.read()


def test_closing_ends_a_read_without_a_response(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    relayed.relay.lose(responses=True)
    opened.storage.log._contents.cache.clear()
    failures: list[Exception] = []

    def read() -> None:
        try:
            opened.storage.log.read(1, 0, 1 << 62, 1 << 62, True)
        except Exception as error:
            failures.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    relayed.relay.wait()
    opened.close()
    reader.join(10)
    assert not reader.is_alive()
    assert len(failures) == 1


@pytest.mark.parametrize("relayed", ["later"], indirect=True)
def test_answers_of_abandoned_reads_are_few(
    relayed: RelayedPostgres, opened: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest ones stay."""
    monkeypatch.setattr(reading, "_ANSWERS_BYTES", 3 * reading._EACH_BYTES - 1)
    for later in range(5):
        with pytest.raises(NotInMemory):
            opened.storage.log.at_timestamp(1, 100 + later)
        opened.callbacks.get(timeout=10)()
    opened.storage.log.at_timestamp(1, 104)
    opened.storage.log.at_timestamp(1, 103)
    with pytest.raises(NotInMemory):
        opened.storage.log.at_timestamp(1, 102)


@pytest.mark.parametrize("relayed", ["later"], indirect=True)
def test_many_partitions_are_loaded_at_once(opened: RelayedStore) -> None:
    """As by the first request for all that a broker has just taken over."""
    log, partitions = opened.storage.log, range(2, 202)
    for partition_id in partitions:
        log.append(partition_id, 0, batch(0))
    assert opened.commit() is None
    log._contents.cache.clear()
    for partition_id in partitions:
        with pytest.raises(NotInMemory):
            log.headers(partition_id, 0, 10)
    for _ in partitions:
        opened.callbacks.get(timeout=10)()
    assert [len(log.headers(one, 0, 10)) for one in partitions] == [1] * 200


@pytest.mark.parametrize("relayed", ["later"], indirect=True)
def test_a_read_that_loads_nothing_has_what_is_in_memory(opened: RelayedStore) -> None:
    opened.keep(1, 2)
    log = opened.storage.log

    def look() -> tuple[Buffer, int]:
        return log.read_to(1, 1, 1 << 62, 1 << 62, True, loads=False)

    written = look()
    assert written[1] == 3 and len(written[0])
    log._contents.cache.clear()
    for _ in range(2):
        assert look() == (b"", 1)
    assert not log._reading._waiting
    with pytest.raises(NotInMemory):
        log.read_to(1, 1, 1 << 62, 1 << 62, True)
    assert look() == (b"", 1)
    opened.callbacks.get(timeout=10)()
    assert look() == written


@pytest.mark.parametrize("relayed", ["later"], indirect=True)
def test_a_failed_read_fails_all_that_waited_for_it(
    relayed: RelayedPostgres, opened: RelayedStore
) -> None:
    """Each one by itself would wait for the next attempt to connect."""
    relayed.relay.refuse()
    relayed.relay.cut()
    log = opened.storage.log
    for _ in range(3):
        with pytest.raises(NotInMemory):
            log.at_timestamp(1, 100)
    for _ in range(2):  # the connection for commits is lost, too
        opened.callbacks.get(timeout=10)()
    for _ in range(3):
        with pytest.raises(StorageFailed, match="could not be read"):
            log.at_timestamp(1, 100)


def test_a_client_cannot_ask_for_a_large_part_of_the_log(relayed: RelayedPostgres) -> None:
    """It would all be in memory, as often as clients ask."""
    store = relayed.open(through_relay=False)
    for offset in range(9):
        store.storage.log.append(1, offset, batch(offset, size_bytes=1 << 20))
    assert store.commit() is None
    for offset in (0, 4):
        assert len(store.read(offset)) == 4 << 20


@pytest.mark.parametrize("relayed", ["later"], indirect=True)
def test_headers_of_small_batches_are_not_all_read(opened: RelayedStore) -> None:
    for first in range(0, 5000, 1000):
        for offset in range(first, first + 1000):
            opened.storage.log.append(1, offset + 1, batch(offset + 1))
        assert opened.commit() is None
    log = opened.storage.log
    log._contents.cache.clear()
    with pytest.raises(NotInMemory):
        log.headers(1, 600, 500)
    opened.callbacks.get(timeout=10)()
    [known] = log._reading._answers.values()
    assert sum(len(headers) for (headers,) in known.answer) == 1000 * 61
    headers = log.headers(1, 600, 500)
    assert [last_offset_of(one) for one in headers] == list(range(600, 1001))


@pytest.mark.parametrize("relayed", ["later"], indirect=True)
def test_a_read_that_waits_does_not_stop_the_loop_for_long(
    relayed: RelayedPostgres, opened: RelayedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a failed commit: the partition is recovered at its next use."""
    monkeypatch.setattr(reading, "_LONGEST_WAIT_S", 0.05)
    opened.keep(1)
    log = opened.storage.log
    log._contents.cache.clear()
    relayed.relay.lose(responses=True)
    for _ in range(3):
        with pytest.raises(StorageFailed, match="does not respond"):
            log.headers(1, 0, 10, waits=True)
    relayed.relay.wait()
    relayed.relay.pass_all()
    relayed.relay.cut()
    monkeypatch.setattr(reading, "_LONGEST_WAIT_S", 10)
    log._reading._late.join(10)
    assert len(log.headers(1, 0, 10, waits=True)) == 2


# ---- of one of several brokers


@pytest.fixture
def broker(cluster: JoinedBrokers) -> JoinedBroker:
    return cluster.join(1)


@pytest.fixture
def without_files(broker: JoinedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next attempt to connect finds none."""
    server = broker.storage.log._reading._server
    connect = server.connect

    def fail(again: bool = False) -> None:
        monkeypatch.setattr(server, "connect", connect)
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(server, "connect", fail)


@pytest.mark.usefixtures("without_files")
def test_a_row_is_read_again_after_a_failure_of_the_process(broker: JoinedBroker) -> None:
    """A verification of a transaction waits for it."""
    assert broker.storage.fetch_row is not None
    found: list[object] = []
    for count in (1, 2):
        broker.storage.fetch_row("t", b"key").then(found.append)
        broker.run_until(lambda count=count: len(found) == count)  # type: ignore[misc]
    assert isinstance(found[0], StorageFailed) and "Too many open files" in found[0].message
    assert found[1] is None


@pytest.mark.usefixtures("without_files")
def test_copies_are_counted_again_after_a_failure_of_the_process(broker: JoinedBroker) -> None:
    copies = broker.storage.copies
    broker.storage.log._reading._link.drop()
    for _ in range(2):
        copies.look()
        broker.run_until(lambda: not copies._is_asked)


@pytest.mark.parametrize("is_back", [False, True])
def test_what_another_leader_has_joined_is_not_skipped(
    cluster: JoinedBrokers, broker: JoinedBroker, is_back: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a broker that does not know yet of another leader, or, `is_back`, that there was one: what
    it reads first is in a tail of the other one, which compacts it there, together with what
    follows.
    """
    other = cluster.join(2)
    other.lead(7, 2)
    for offset in (0, 1):
        other.append(7, offset)
        assert other.commit() is None
    other.lead(7, 1, epoch=2)
    assert other.commit() is None
    log = broker.storage.log
    broker.run_until(lambda: 7 in log.partition_ids())
    for offset in (2, 3):
        broker.append(7, offset)
        assert broker.commit() is None
    monkeypatch.setattr(log._contents, "take_over", lambda *found: None)
    other.lead(7, 2, epoch=3)
    assert other.commit() is None
    all_of_it = [batch(offset, b"x") for offset in range(4)]
    other.patiently(lambda: other.storage.log.replace(7, 0, 3, all_of_it, []))
    assert other.commit() is None
    if is_back:
        other.lead(7, 1, epoch=4)
        assert other.commit() is None
    log._contents.cache.clear()
    with pytest.raises(StorageFailed, match="leader of the partition has changed"):
        broker.patiently(lambda: log.read(7, 0, 1 << 62, 1 << 62, True))


def test_what_an_own_commit_moves_is_not_read_before_its_outcome_is_known(
    cluster: JoinedBrokers, broker: JoinedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is persisted: by the runs in memory some records would be skipped, others doubled."""
    other = cluster.join(2)
    other.lead(7, 2)
    other.append(7, 0)
    other.lead(7, 1, epoch=2)
    assert other.commit() is None
    log = broker.storage.log
    broker.run_until(lambda: 7 in log.partition_ids())
    broker.append(7, 1)
    assert broker.commit() is None
    contents, found = log._contents, []
    planned, all_of_it = contents.planned, [batch(offset, b"x") for offset in range(2)]
    question = Question(questions.batches, 7, (0, ABOVE_ALL_OFFSETS, LOADED_BYTES))

    def read_before(plan: Plan, written_bytes: int) -> None:
        found.append(log._reading._execute(question))
        planned(plan, written_bytes)
        found.append(log._reading._execute(question))

    monkeypatch.setattr(reading, "_PAUSE_S", 0)
    monkeypatch.setattr(contents, "planned", read_before)
    broker.patiently(lambda: log.replace(7, 0, 1, all_of_it, []))
    assert broker.commit() is None
    before, (after,) = found
    assert isinstance(before, StorageFailed)
    assert after[:2] == (1, b"".join(all_of_it))


@pytest.mark.parametrize(("epoch", "is_own"), [(2, True), (65_536, True), (65_537, False)])
def test_a_broker_that_raises_its_own_epoch_reads_on(
    broker: JoinedBroker, cluster: JoinedBrokers, epoch: int, is_own: bool
) -> None:
    """By one, or to the first one after a promotion; more if another broker has led meanwhile."""
    log = broker.storage.log
    broker.lead(7, 1)
    broker.append(7, 0)
    assert broker.commit() is None
    log._contents.cache.clear()
    log._contents.timeline = 2
    [(tail,)] = cluster.execute("select tail from ottla_runs where partition_id = 7")
    row = f"decode('{1:08x}{epoch:08x}', 'hex')"
    cluster.execute(
        f"delete from ottla_tail_{tail}",
        f"""update ottla_rows set value = {row} where "table" = '{LEADERS}'""",
    )

    def read() -> bytes:
        return broker.patiently(lambda: log.read(7, 0, 1 << 62, 1 << 62, True))

    if is_own:
        assert read() == b""
    else:
        with pytest.raises(StorageFailed, match="leader of the partition has changed"):
            read()
