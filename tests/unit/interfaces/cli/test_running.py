from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Iterator

import pytest

from interfaces.cli import running
from interfaces.cli.running import run
from interfaces.terminal.endings import INTERRUPTED


@pytest.fixture
def running_as(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[], int]], int]]:
    """Runs it as if it were a command, with the signals as they are at the start of a process."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGTERM: signal.signal(signal.SIGTERM, signal.SIG_DFL),
    }

    def ran(work: Callable[[], int]) -> int:
        monkeypatch.setattr(running, "command_of", lambda *_: lambda _: work())
        return run(argparse.Namespace(runs="some:command"))

    yield ran
    for number, handler in before.items():
        signal.signal(number, handler)


def interrupted(number: signal.Signals) -> int:
    signal.raise_signal(number)
    return 0


def swallowed(number: signal.Signals) -> int:
    """As `poll` of the client does with a signal that comes within it."""
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    raise SystemError("returned NULL without setting an exception")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("work", [interrupted, swallowed])
def test_an_interrupt_that_the_client_loses_ends_the_command_all_the_same(
    work: Callable[[signal.Signals], int],
    number: signal.Signals,
    running_as: Callable[[Callable[[], int]], int],
) -> None:
    assert running_as(lambda: work(number)) == INTERRUPTED


def test_what_is_wrong_without_an_interrupt_is_told(
    running_as: Callable[[Callable[[], int]], int],
) -> None:
    def wrong() -> int:
        raise SystemError("something else")

    with pytest.raises(SystemError, match="something else"):
        running_as(wrong)
