from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import KafkaError, KafkaException

from interfaces.cli import running
from interfaces.cli.running import run
from interfaces.terminal.endings import FAILED, INTERRUPTED

RunAsCommand = Callable[[Callable[[], int]], int]


@pytest.fixture
def run_as_command(monkeypatch: pytest.MonkeyPatch) -> Iterator[RunAsCommand]:
    """Runs a function as a command, with the signal handlers of a new process."""
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.default_int_handler),
        signal.SIGTERM: signal.signal(signal.SIGTERM, signal.SIG_DFL),
    }

    def run_function(function: Callable[[], int]) -> int:
        monkeypatch.setattr(running, "command_of", lambda *_: lambda _: function())
        return run(argparse.Namespace(runs="some:command"))

    yield run_function
    for number, handler in before.items():
        signal.signal(number, handler)


def interrupted(number: signal.Signals) -> int:
    signal.raise_signal(number)
    return 0


def interrupted_in_poll(number: signal.Signals) -> int:
    """As `poll` of confluent-kafka handles a KeyboardInterrupt."""
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)
    raise SystemError("returned NULL without setting an exception")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("function", [interrupted, interrupted_in_poll])
def test_an_interrupt_ends_a_command_also_within_poll(
    function: Callable[[signal.Signals], int],
    number: signal.Signals,
    run_as_command: RunAsCommand,
) -> None:
    assert run_as_command(lambda: function(number)) == INTERRUPTED


def test_a_system_error_without_an_interrupt_is_raised(run_as_command: RunAsCommand) -> None:
    def fail() -> int:
        raise SystemError("something else")

    with pytest.raises(SystemError, match="something else"):
        run_as_command(fail)


def test_an_error_that_a_client_raises_while_it_polls_is_one_line(
    run_as_command: RunAsCommand, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> int:
        raise KafkaException(KafkaError(KafkaError.CLUSTER_AUTHORIZATION_FAILED, "no PID"))

    assert run_as_command(fail) == FAILED
    assert capsys.readouterr().err == "ottla: no PID (CLUSTER_AUTHORIZATION_FAILED)\n"
