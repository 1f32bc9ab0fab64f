"""An unknown user and a wrong password take the same time."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from statistics import median

import pytest

from tests.e2e.broker_process import Address, BrokerProcess
from tests.fakes.sasl import USER, plain
from tests.oracle.conversation import Conversation
from tests.oracle.conversations import Listeners, options, prepare

ROUNDS = 200


def _medians_us(ask: Callable[[str], None]) -> dict[str, float]:
    """Of both users, in turns."""
    taken: dict[str, list[float]] = {USER: [], "nobody": []}
    for _ in range(ROUNDS):
        for user, times in taken.items():
            begun = time.perf_counter()
            ask(user)
            times.append((time.perf_counter() - begun) * 1e6)
    return {user: median(times) for user, times in taken.items()}


@pytest.mark.long
def test_an_unknown_user_and_a_wrong_password_take_the_same_time(tmp_path: Path) -> None:
    # Users of SCRAM only: their passwords are hashed.
    more = ("--set", "admin.authentication=users", "--admin", "127.0.0.1:0")
    with BrokerProcess(tmp_path, "memory", [*options(own_users=False), *more]) as broker:
        found = (Address(one["host"], one["port"]) for one in broker.ready["listeners"])
        listeners = Listeners(*found)
        prepare(listeners)

        def by_plain(user: str) -> None:
            with closing(Conversation(listeners.login)) as talk:
                talk.handshake("PLAIN")
                assert talk.token("token", plain(user, "wrong")) == b""

        def by_basic(user: str) -> None:
            basic = b64encode(f"{user}:wrong".encode()).decode()
            with closing(HTTPConnection(*broker.admin, timeout=30)) as connection:
                connection.request("GET", "/topics", headers={"Authorization": f"Basic {basic}"})
                assert connection.getresponse().status == 401

        for ask in (by_plain, by_basic):
            taken = _medians_us(ask)
            assert 0.9 < taken[USER] / taken["nobody"] < 1.1, taken
