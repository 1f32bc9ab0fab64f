"""Commits under random faults, and what is wrong with their outcomes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from domain.errors import StorageFailed
from tests.contract.batches import batch
from tests.contract.relayed_postgres import RelayedPostgres, RelayedStore, Running, Taking
from tests.fakes.postgres_relay import PostgresRelay

#: Kinds of `Wrong`.
LOST = "reported persisted, and not there"
DOUBLED = "reported persisted, and there twice"
KEPT = "reported failed, and there"
NOT_AGAIN = "reported failed, and not sent again"
FOREIGN = "persisted by a broker whose session was ended"
COMMITS = 30


class Wrong(AssertionError):
    """An outcome. Anything else that fails is no such finding."""

    def __init__(self, kind: str, where: str) -> None:
        super().__init__(f"{kind}: {where}")
        self.kind = kind


def any_faults(relayed: RelayedPostgres, seed: int, patience_s: float) -> None:
    """What is reported persisted is there, once; what is reported failed is not, and only if it was
    refused, or there was no server for too long.
    """
    chance = random.Random(seed)
    relay = relayed.relay
    opened = relayed.open(patience_s)
    opened.storage.log.append(2, 5, batch(5))
    assert opened.commit() is None
    relayed.execute("alter table ottla_rows add check (\"table\" <> 'refused')")
    persisted: list[bytes] = []
    newest = None
    for number in range(COMMITS):
        offset = len(persisted)
        one = batch(offset, b"%d" % number)
        opened.storage.log.append(1, offset, one)
        opened.storage.state.put("t", b"newest", b"%d" % number)
        is_refused = chance.random() < 0.1
        if is_refused:
            opened.storage.state.put("refused", b"", b"")
        is_away = fail(relay, chance)
        failure = opened.commit()
        said(failure)
        relay.pass_all()
        if failure is None:
            persisted.append(one)
            newest = b"%d" % number
        check(relayed, persisted, f"commit {number}: {failure}")
        if failure is not None and not is_refused:
            if not is_away or patience_s:
                raise Wrong(NOT_AGAIN, f"commit {number}: {failure}")
            assert "cannot be reached" in str(failure)
        assert opened.storage.state.get("t", b"newest") == newest
    opened.close()
    opened = relayed.open()
    assert opened.read() == b"".join(persisted)
    assert opened.storage.state.get("t", b"newest") == newest
    assert relayed.last_session()[1] == 1 + len(persisted)


def fail(relay: PostgresRelay, chance: random.Random) -> bool:
    """At one of several points of the next commit. Whether connections may be lost more than once:
    then a commit without patience fails, if it is known that it is not kept.
    """
    fault = chance.randrange(8)
    if fault == 0:
        relay.cut()
    elif fault == 1:
        relay.cut_at_response(chance.randrange(6))
    elif fault == 2:
        relay.cut_at_request()
    elif fault == 3:
        relay.end_next(chance.randrange(1, 3))
        relay.cut()
    elif fault == 4:
        relay.end_next(chance.randrange(1, 3))
        relay.cut_at_response()
    elif fault == 5:
        relay.cut()
        relay.cut_at_response(chance.randrange(1, 6))
    return fault in (3, 4, 5)


def check(relayed: RelayedPostgres, persisted: Sequence[bytes], where: str) -> None:
    """By the database itself."""
    kind = wrong_of([data for _, data in relayed.entries()], persisted)
    if kind is not None:
        raise Wrong(kind, where)


def wrong_of(found: Sequence[object], persisted: Sequence[object]) -> str | None:
    """The kind of what is there, if it is not what was reported persisted."""
    if [one for one in persisted if one not in found]:
        return LOST
    if [one for one in persisted if found.count(one) > 1]:
        return DOUBLED
    return KEPT if list(found) != list(persisted) else None


def response_lost(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    relayed.relay.cut_at_response()
    check_lost(relayed, opened)


def request_lost(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    relayed.relay.cut_at_request()
    check_lost(relayed, opened)


def check_lost(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    """The next commit is persisted, and is reported so."""
    opened.append(1)
    outcome = opened.commit()
    said(outcome)
    relayed.relay.wait()
    found = relayed.last_offsets()
    if outcome is None and (kind := wrong_of(found, [0, 1])) is not None:
        raise Wrong(kind, f"{found}")
    if outcome is not None:
        raise Wrong(NOT_AGAIN if found == [0] else KEPT, f"{found}: {outcome}")
    assert relayed.last_session()[1] == 2, "it was sent once"


def taken_before_a_commit(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    opened.append(1)
    Taking(relayed).take_and_commit()
    check_taken(relayed, opened, opened.commit(), [0])


def taken_with_the_connection(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    opened.append(1)
    relayed.relay.cut()
    Taking(relayed).take_and_commit()
    check_taken(relayed, opened, opened.commit(), [0])


@contextmanager
def request_under_way(relayed: RelayedPostgres, opened: RelayedStore) -> Iterator[Running]:
    """Of a commit: the request is lost, and nothing else gets through meanwhile."""
    relayed.relay.cut_at_request()
    relayed.relay.refuse()
    opened.append(1)
    running = opened.begin()
    relayed.relay.wait()
    yield running
    relayed.relay.accept()


def taken_while_a_request_is_lost(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    """It was staged and sent under the session that is over then."""
    with request_under_way(relayed, opened) as running:
        Taking(relayed).take_and_commit()
    check_taken(relayed, opened, running.outcome(), [0])


def taken_by_one_that_commits(relayed: RelayedPostgres, opened: RelayedStore) -> None:
    """As much as this one wanted to."""
    with request_under_way(relayed, opened) as running:
        relayed.open(through_relay=False).keep(7)
    check_taken(relayed, opened, running.outcome(), [0, 7])


TAKEN = (
    taken_before_a_commit,
    taken_with_the_connection,
    taken_while_a_request_is_lost,
    taken_by_one_that_commits,
)


def check_taken(
    relayed: RelayedPostgres,
    opened: RelayedStore,
    outcome: StorageFailed | None,
    expected: list[int],
) -> None:
    """Nothing of this broker is there, or will be."""
    for number in (2, 3):
        said(outcome)
        found = relayed.last_offsets()
        if found != expected:
            raise Wrong(FOREIGN, f"{found}, not {expected}; the outcome was {outcome}")
        if outcome is None:
            raise Wrong(LOST, f"one of {found}")
        assert "another broker has ended the session" in str(outcome)
        opened.append(number)
        outcome = opened.commit()
    assert outcome is not None
    assert relayed.last_offsets() == expected


def said(outcome: StorageFailed | None) -> None:
    """By a session that works: an error in its own code is no outcome."""
    assert "A commit ended with" not in str(outcome), outcome
