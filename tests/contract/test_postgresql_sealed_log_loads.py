"""Pieces of objects are loaded in threads, which all clients of a follower share."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from application.ports.pending import Pending
from application.ports.sealed_log import SealedRecords
from infrastructure.storage.postgresql import sealed_log as sealed_log_module
from infrastructure.storage.postgresql.cache import CachedEntry
from infrastructure.storage.postgresql.sealed_log import (
    PostgresSealedLog,
    _Piece,
    _Read,
    _Wanted,
)
from tests.contract.batches import batch
from tests.contract.joined_brokers import JoinedBroker
from tests.contract.s3_objects import Objects
from tests.contract.sealed_logs import MANY, P, fetch, joined, records, sealed_log, sealing_leader

pytestmark = pytest.mark.usefixtures("at_once", "s3")

#: More than there are threads.
OTHERS = range(P + 1, P + 9)


class Loads:
    """Those of a follower, which wait while they are held."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, broker: JoinedBroker) -> None:
        self.broker = broker
        self.begun: list[tuple[int, int]] = []
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        load = PostgresSealedLog._load

        def held(log: PostgresSealedLog, partition_id: int, offset: int) -> object:
            self.begun.append((partition_id, offset))
            self.may_go_on.wait()
            return load(log, partition_id, offset)

        monkeypatch.setattr(PostgresSealedLog, "_load", held)

    def hold_all_threads(self) -> None:
        self.may_go_on.clear()
        for partition_id in OTHERS:
            self.ask(0, partition_id)

    def ask(self, offset: int, partition_id: int = P) -> Pending[SealedRecords | None]:
        return sealed_log(self.broker).fetch(partition_id, offset, MANY, True)

    def answers(self, asked: list[Pending[SealedRecords | None]]) -> list[bytes | None]:
        found: list[SealedRecords | None] = []
        for one in asked:
            one.then(found.append)
        self.may_go_on.set()
        self.broker.run_until(lambda: len(found) == len(asked))
        return [None if one is None else bytes(one.records) for one in found]

    def end(self) -> None:
        self.may_go_on.set()
        log = sealed_log(self.broker)
        assert isinstance(log, PostgresSealedLog)
        self.broker.run_until(lambda: not any(log._loads))


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch, objects: Objects) -> Iterator[Loads]:
    with closing(joined(objects)) as cluster:
        sealing_leader(cluster)
        loads = Loads(monkeypatch, cluster.join(2))
        yield loads
        loads.end()


def test_a_read_that_nobody_waits_for_is_not_begun(loads: Loads) -> None:
    loads.hold_all_threads()
    loads.ask(0).abandon()
    loads.end()
    assert (P, 0) not in loads.begun
    assert fetch(loads.broker, 0) is not None


def test_one_thread_loads_what_several_wait_for(loads: Loads) -> None:
    loads.may_go_on.clear()
    assert loads.answers([loads.ask(0) for _ in range(5)]) == [batch(0, b"x")] * 5
    assert loads.begun.count((P, 0)) == 1


def test_what_is_read_ahead_is_waited_for(loads: Loads) -> None:
    assert fetch(loads.broker, 0) is not None
    assert loads.answers([loads.ask(1)]) == [batch(1, b"x")]
    assert loads.begun.count((P, 1)) == 1


def test_all_that_wait_for_an_object_that_cannot_be_read_go_to_the_leader(
    loads: Loads, objects: Objects
) -> None:
    for name in objects.names():
        objects.delete(name)
    loads.may_go_on.clear()
    assert loads.answers([loads.ask(0) for _ in range(5)]) == [None] * 5
    assert loads.begun == [(P, 0)]


def test_a_caller_that_has_gone_takes_nothing_from_those_behind_it(loads: Loads) -> None:
    loads.hold_all_threads()
    gone, waiting = loads.ask(0), loads.ask(0)
    gone.abandon()
    assert loads.answers([waiting]) == [batch(0, b"x")]


def test_what_somebody_behind_a_caller_that_has_gone_waits_for_keeps_its_turn(
    loads: Loads,
) -> None:
    """Otherwise it would be the last again each time that a client gives up."""
    loads.hold_all_threads()
    gone, waiting = loads.ask(0), loads.ask(0)
    log = sealed_log(loads.broker)
    assert isinstance(log, PostgresSealedLog)
    later = range(P + 20, P + 20 + len(log._threads) - 1)
    for partition_id in later:  # the last one waits behind it
        loads.ask(0, partition_id)
    gone.abandon()
    assert loads.answers([waiting]) == [batch(0, b"x")]
    loads.end()
    assert loads.begun.index((P, 0)) < loads.begun.index((later[-1], 0))
    assert loads.begun.count((P, 0)) == 1


def test_a_fault_of_a_caller_is_none_of_those_behind_it(loads: Loads) -> None:
    def fail(_: object) -> None:
        raise ValueError("a fault of a caller")

    loads.may_go_on.clear()
    failing, waiting = loads.ask(0), loads.ask(0)
    failing.then(fail)
    loads.may_go_on.set()
    with pytest.raises(ValueError, match="of a caller"):
        loads.broker.run_until(lambda: False)
    assert loads.answers([waiting]) == [batch(0, b"x")]


def test_a_piece_in_memory_waits_for_no_object(loads: Loads) -> None:
    assert fetch(loads.broker, 0) is not None
    loads.hold_all_threads()
    assert records(loads.broker, 0) == batch(0, b"x")


@pytest.mark.parametrize("is_put", [True, False])
def test_what_has_left_its_object_is_looked_for_by_another_thread(
    loads: Loads, monkeypatch: pytest.MonkeyPatch, is_put: bool
) -> None:
    """Pieces in memory do not wait for it."""
    for offset in (0, 1):
        assert fetch(loads.broker, offset) is not None
        loads.end()
    loads.hold_all_threads()
    of_piece, left = PostgresSealedLog._of_piece, [(P, 0)]

    def none_once(log: PostgresSealedLog, piece: _Piece, wanted: _Wanted) -> _Read | None:
        if wanted.place in left:
            left.remove(wanted.place)
            return None
        return of_piece(log, piece, wanted)

    monkeypatch.setattr(PostgresSealedLog, "_of_piece", none_once)
    asked = loads.ask(0)
    if is_put:
        assert records(loads.broker, 1) == batch(1, b"x")
        assert loads.answers([asked]) == [batch(0, b"x")]
    else:
        monkeypatch.setattr(PostgresSealedLog, "_put", lambda *_: False)
        assert loads.answers([asked]) == [None]


@pytest.mark.parametrize(("room", "kept"), [(4, 4), (2.5, 2), (0, 1)])
def test_pieces_have_so_many_bytes_or_there_is_one(
    loads: Loads, objects: Objects, monkeypatch: pytest.MonkeyPatch, room: float, kept: int
) -> None:
    entry_bytes = CachedEntry(0, 0, batch(0, b"x")).size_bytes
    monkeypatch.setattr(sealed_log_module, "_PIECES_BYTES", int(room * entry_bytes))
    for offset in range(4):
        assert fetch(loads.broker, offset) is not None
        loads.end()
    for name in objects.names():
        objects.delete(name)
    has_piece = [records(loads.broker, offset) is not None for offset in range(4)]
    assert has_piece == [offset >= 4 - kept for offset in range(4)]
