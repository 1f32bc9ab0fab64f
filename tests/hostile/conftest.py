from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from domain.configs.broker import BrokerConfig
from tests.e2e.broker_process import BrokerProcess
from tests.hostile.attack import SETTINGS, Attacked


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Attacked]]:
    """Starts the broker to attack; settings by their keys with underscores."""
    if not sys.platform.startswith("linux"):
        pytest.skip("reads a process's own memory from /proc")
    brokers: list[BrokerProcess] = []

    def start(**more: str) -> Attacked:
        settings = SETTINGS | {name.replace("_", "."): value for name, value in more.items()}
        arguments = [part for name in settings for part in ("--set", f"{name}={settings[name]}")]
        broker = BrokerProcess(tmp_path, "lmdb", arguments)
        brokers.append(broker)
        broker.start()
        return Attacked(broker, BrokerConfig(settings))

    yield start
    for broker in brokers:
        log = broker.log(1 << 20)
        broker.kill()
        assert "request_failed" not in log, log[-6000:]
        assert "Traceback" not in log, log[-6000:]


@pytest.fixture
def attacked(start: Callable[..., Attacked]) -> Attacked:
    return start()
