from __future__ import annotations

from datetime import datetime
from http.client import BadStatusLine
from typing import Any

import pytest

from interfaces.embed import pytest_plugin
from interfaces.embed.pytest_plugin import Brokers, Settings, sections_of


class FakeBroker:
    """Its log has half a line, its REST fails."""

    def __init__(self, settings: Settings = ()) -> None:
        self.closed = 0
        self._fails = bool(settings)

    @property
    def rest(self) -> Any:
        return self

    def items(self, *path: str, **query: object) -> list[Any]:
        raise BadStatusLine("x")

    def log(self) -> str:
        old, new = (f'{{"time":"2026-01-0{day}T00:00:00.000Z"}}' for day in (1, 3))
        return f'{old}\nTraceback\n{new}\n{{"time":"2026-01-0'

    def close(self) -> None:
        self.closed += 1
        if self._fails:
            raise OSError("it stays")


def test_a_failure_comes_with_what_is_available() -> None:
    since = datetime.fromisoformat("2026-01-02T00:00:00Z").timestamp()
    broker: Any = FakeBroker()
    (_, log), (_, requests) = sections_of(broker, since)
    assert [line[:30] for line in log.splitlines()] == [
        "Traceback",
        '{"time":"2026-01-03T00:00:00.0',
        '{"time":"2026-01-0',
    ]
    assert requests == "not available: x"


def test_all_brokers_are_closed_even_if_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = [FakeBroker(), FakeBroker((("a", "b"),)), FakeBroker()]
    started = iter([*brokers, ValueError("x")])

    def start(settings: Settings) -> Any:
        broker = next(started)
        if isinstance(broker, ValueError):
            raise broker
        return broker

    monkeypatch.setattr(pytest_plugin, "_started", start)
    all_brokers = Brokers()
    for name in "abcd":
        all_brokers.start(((name, ""),)).exception()
    with pytest.raises(OSError, match="it stays"):
        all_brokers.close()
    assert [broker.closed for broker in brokers] == [1, 1, 1]
