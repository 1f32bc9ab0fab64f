"""Passwords that wait for the thread: their order, their bounds, and those whose clients left."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Queue

import pytest

from application.ports.pending import Pending
from infrastructure.security import password_hashing
from infrastructure.security.password_hashing import ThreadedHashing
from tests.fakes.passwords import PasswordWaiter
from tests.fakes.sasl import PASSWORD, credential

PATIENCE_S = 20


class World:
    """A loop that runs callbacks by hand, and a thread that is busy until it is released."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: Queue[Callable[[], None]] = Queue()
        self.hashing = ThreadedHashing(self.calls.put)
        self.verified: list[str] = []
        self.results: dict[str, bool | None] = {}
        self._released = threading.Event()
        monkeypatch.setattr(password_hashing, "is_password_of_any", self._is_password)

    def _is_password(self, password: str, _credentials: object) -> bool:
        assert self._released.wait(PATIENCE_S)
        self.verified.append(password)
        return True

    def verify(self, password: str, address: str = "192.0.2.7") -> PasswordWaiter:
        client = PasswordWaiter(address)
        pending = self.hashing.verify(password, [], client)
        pending.then(lambda verified: self.results.update({password: verified}))
        return client

    def release(self, computed: int) -> None:
        self._released.set()
        for _ in range(computed):
            self.calls.get(timeout=PATIENCE_S)()


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_passwords_are_verified_and_salted_in_a_thread() -> None:
    calls: Queue[Callable[[], None]] = Queue()
    hashing = ThreadedHashing(calls.put)
    results: list[object] = []

    def result(pending: Pending[bool | None]) -> bool | None:
        pending.then(results.append)
        calls.get(timeout=PATIENCE_S)()
        return pending.resolved and bool(results[-1])

    client = PasswordWaiter()
    assert result(hashing.verify(PASSWORD, [credential()], client)) is True
    assert result(hashing.verify("wrong", [credential()], client)) is False
    salted = hashing.salted(credential().mechanism, PASSWORD, 4096)
    calls.get(timeout=PATIENCE_S)()
    assert salted.resolved


def test_a_fault_is_the_clients_own(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_password: str, _credentials: object) -> bool:
        raise ValueError

    monkeypatch.setattr(password_hashing, "is_password_of_any", fails)
    failed = world.hashing.verify("1", [], PasswordWaiter())
    monkeypatch.setattr(password_hashing, "is_password_of_any", lambda *_: True)
    world.verify("2")
    world.release(2)
    assert isinstance(failed.fault, ValueError)
    assert world.results == {"2": True}


def test_addresses_take_turns(world: World) -> None:
    for password in ("a1", "a2", "a3"):
        world.verify(password, "192.0.2.1")
    for password in ("b1", "b2"):
        world.verify(password, "192.0.2.2")
    world.release(5)
    assert world.verified == ["a1", "a2", "b1", "a3", "b2"]
    assert world.hashing.waiting == 0


def test_a_password_whose_client_has_gone_is_not_verified(world: World) -> None:
    world.verify("1")
    gone = [world.verify(password) for password in ("2", "3")]
    world.verify("4")
    for client in gone:
        client.closing = True
    world.release(2)
    assert world.verified == ["1", "4"]
    assert world.results == {"1": True, "2": None, "3": None, "4": True}
    assert world.hashing.waiting == 0


@pytest.mark.parametrize("bound", ["MAX_WAITING", "MAX_WAITING_OF_ADDRESS"])
def test_too_many_passwords_are_refused_at_once(
    world: World, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(password_hashing, bound, 2)
    for password in ("computed", "1", "2", "too many"):
        world.verify(password)
    assert world.results == {"too many": None}
    world.verify("other address", "192.0.2.8")
    expected = {"other address": None} if bound == "MAX_WAITING" else {}
    assert world.results == {"too many": None} | expected
    world.release(3 if expected else 4)
    assert world.results["2"] is True
    world.verify("later")
    world.release(1)
    assert world.results["later"] is True
