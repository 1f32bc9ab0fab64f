"""Faults of tests/crash/cluster/broken.py replace what is there, and the brokers run with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import wraps
from typing import Any

import pytest

from infrastructure.storage.postgresql import statement
from tests.contract.joined_brokers import JoinedBrokers
from tests.contract.relayed_postgres import RelayedPostgres, Taking
from tests.crash.cluster import broken, history
from tests.crash.cluster.broken import (
    ALREADY_THERE,
    FAULTS,
    LOGGED,
    Outdated,
    check,
    does_not_wait_for_the_standby,
    ignores_the_fence,
    kind_of,
    reads_partitions_before_their_leaders,
    takes_a_session_after_it_was_fenced,
)

#: Whose code runs with any two brokers that share a store.
OF_THE_STORE = [
    ignores_the_fence,
    takes_a_session_after_it_was_fenced,
    reads_partitions_before_their_leaders,
    does_not_wait_for_the_standby,
]


class Patches:
    """What a fault replaces, until the end of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self.names: list[str] = []
        self._not_called: set[str] = set()
        #: Of the code of a fault.
        self.errors: list[Exception] = []
        monkeypatch.setattr(broken, "patch", self._patch)

    def _patch(self, owner: Any, name: str, new: object) -> None:
        check(owner, name, new)
        self.names.append(name)
        if callable(new):
            self._not_called.add(name)
            new = self._noting(name, new)
        self._monkeypatch.setattr(owner, name, new)

    def _noting(self, name: str, call: Callable[..., object]) -> Callable[..., object]:
        @wraps(call)
        def noting(*arguments: Any, **named: Any) -> object:
            self._not_called.discard(name)
            try:
                return call(*arguments, **named)
            except (TypeError, AttributeError, NameError, ImportError) as error:
                self.errors.append(error)
                raise

        return noting

    @property
    def all_were_called(self) -> bool:
        return not self._not_called


@pytest.fixture
def patches(monkeypatch: pytest.MonkeyPatch) -> Iterator[Patches]:
    statement._text.cache_clear()
    yield Patches(monkeypatch)
    statement._text.cache_clear()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_replaces_what_is_there(fault: str, patches: Patches) -> None:
    apply, _ = FAULTS[fault]
    apply()
    assert patches.names


@pytest.mark.parametrize("fault", OF_THE_STORE, ids=lambda fault: str(fault.__name__))
def test_brokers_run_with_a_fault(
    patient: JoinedBrokers, patches: Patches, fault: Callable[[], None]
) -> None:
    """What it replaces is called as before. A partition changes its leader."""
    fault()
    first, second = patient.join(1, through_relay=True), patient.join(2)
    for broker in (first, second):
        broker.announce()
    first.lead(7, 1)
    assert first.commit() is None
    first.append(7, 0)
    assert first.commit() is None
    patient.relay.cut()
    first.append(7, 1)
    assert first.commit() is None
    first.lead(7, 2, epoch=2)
    assert first.commit() is None
    second.run_until(lambda: second.last_offsets(7) or patches.errors)
    second.run_until(lambda: patches.all_were_called or patches.errors)
    assert patches.errors == []
    assert (first.fenced, second.fenced) == (0, 0)


@pytest.mark.usefixtures("patches")
def test_a_commit_of_a_former_session_is_kept(relayed: RelayedPostgres) -> None:
    ignores_the_fence()
    store = relayed.open()
    store.keep(0)
    Taking(relayed).take_and_commit()
    store.keep(1)
    assert relayed.last_offsets() == [0, 1]


@pytest.mark.usefixtures("patches")
def test_connections_of_a_fenced_broker_stay(cluster: JoinedBrokers) -> None:
    ignores_the_fence()
    first, second = cluster.join(1, through_relay=True), cluster.join(2)
    for broker in (first, second):
        broker.announce()
    second.run_until(lambda: second.brokers() == [(1, False), (2, False)])
    [(client,)] = cluster.execute("select client from ottla_brokers where node_id = 1")
    with closing(cluster.connected()) as staying:
        staying.execute("select set_config('application_name', %s, false)", (client,))
        cluster.relay.refuse()
        cluster.relay.cut()
        second.run_until(lambda: (1, True) in second.brokers())
        staying.execute("select 1")


@pytest.mark.usefixtures("patches")
def test_a_session_that_was_ended_is_taken_again(relayed: RelayedPostgres) -> None:
    takes_a_session_after_it_was_fenced()
    store = relayed.open()
    store.keep(0)
    Taking(relayed).take_and_commit()
    relayed.relay.cut()
    store.keep(1)
    assert relayed.last_offsets() == [0, 1]


@pytest.mark.usefixtures("patches")
def test_commits_wait_for_no_standby(relayed: RelayedPostgres) -> None:
    does_not_wait_for_the_standby()
    connection = relayed.open().storage.commit._session._link.connection
    assert connection.execute("show synchronous_commit").fetchall() == [("local",)]


class Owner:
    text = "where a = %s"

    def method(self, one: int) -> None:
        raise NotImplementedError


class Heir(Owner):
    pass


@pytest.mark.parametrize(
    "owner, name, new",
    [
        (Owner, "renamed", "where true"),
        (Owner, "text", "where a = %s"),
        (Owner, "text", "where true"),
        (Owner, "method", lambda self, one, another: None),
        (Heir, "method", lambda self, one: None),
    ],
)
def test_an_outdated_fault_is_refused(owner: type, name: str, new: object) -> None:
    with pytest.raises(Outdated):
        check(owner, name, new)


def test_what_is_there_is_replaced() -> None:
    check(Owner, "text", "where b = %s")
    check(Owner, "method", lambda self, one: None)


@pytest.mark.parametrize(
    "finding, kind",
    [
        (f"{history.WENT_BACK}: high watermark of 1: (1, 2) to (1, 1)", history.WENT_BACK),
        ('log of broker 1: {"error": "refused a commit: duplicate key value"}', ALREADY_THERE),
        ('log of broker 1: {"error": "any"}', LOGGED),
    ],
)
def test_findings_have_kinds(finding: str, kind: str) -> None:
    assert kind_of(finding) == kind
