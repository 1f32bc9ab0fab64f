"""The process itself: signals, exit codes and what goes to stderr; an echo instead of a broker."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[4]
_CHILD = """
import sys
from pathlib import Path
from interfaces.embed.child import exit_with_stdin
from interfaces.main import serve
from interfaces.main.settings.origin import Given
from interfaces.main.settings.sources import load_settings
from tests.fakes.echo_container import EchoContainer

def build(settings, loop, log):
    container = EchoContainer(settings)
    if sys.argv[2:]:
        container.close = lambda: [log.info("line") for _ in range(int(sys.argv[2]))]
    return container

exit_with_stdin()
values = {"listeners": "127.0.0.1:0", "admin.listeners": "off", "storage": "memory://", "nope": "1"}
settings = load_settings({name: Given(text, "test") for name, text in values.items()}, {})
serve.LOG_PATIENCE_SECONDS = 30.0  # on a busy machine the reader may be later than in earnest
sys.exit(serve.run(settings, Path(sys.argv[1]), build))
"""


class Child:
    def __init__(self, folder: Path, *arguments: str) -> None:
        self.ready_file = folder / "ready.json"
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(self.ready_file), *arguments],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=_ROOT,
            env={**os.environ, "PYTHONPATH": str(_ROOT)},
        )
        self.lines: list[str] = []
        self.facts: dict[str, object] = {}

    def __enter__(self) -> Child:
        self.until("broker_started")
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    def until(self, event: str) -> None:
        assert self.process.stderr is not None
        while event not in self.lines:
            line = self.process.stderr.readline()
            assert line, f"the child ended before {event!r}: {self.lines}"
            self.facts = json.loads(line)
            self.lines.append(str(self.facts["event"]))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_and_stops_the_broker(tmp_path: Path, number: signal.Signals) -> None:
    with Child(tmp_path) as child:
        # In memory nothing is flushed, and there is no settings file: these fields are left out.
        assert child.facts.keys() == {
            *("time", "level", "event", "version", "cluster_id", "listeners", "storage"),
            "recovered",
        }
        assert json.loads(child.ready_file.read_text())["pid"] == child.process.pid
        child.process.send_signal(number)
        child.until("broker_stopping")
        assert child.facts["signal"] == number.name
        child.until("broker_stopped")
        assert child.process.wait(20) == 0
    assert child.lines == [
        *("setting_without_effect", "startup_warning"),
        *("broker_started", "broker_stopping", "broker_stopped"),
    ]
    assert not child.ready_file.exists()


def test_the_end_of_stdin_stops_the_broker(tmp_path: Path) -> None:
    with Child(tmp_path) as child:
        assert child.process.stdin is not None
        os.write(child.process.stdin.fileno(), b"x")
        child.until("broker_stopping")
        assert (child.facts["reason"], "signal" in child.facts) == ("stdin_ended", False)
        assert child.process.wait(20) == 0


def test_a_late_log_reader_gets_the_last_line(tmp_path: Path) -> None:
    """A pipe holds a tenth of the lines that are logged at the end."""
    with Child(tmp_path, "5000") as child:
        child.process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            child.process.wait(0.3)
        child.until("broker_stopped")
        assert child.lines.count("line") == 5000
        assert child.process.wait(20) == 0


_FENCED_CHILD = """
import os, signal, sys
from interfaces.main import serve
from interfaces.main.settings.sources import load_settings
from interfaces.main.settings.origin import Given
from tests.fakes.echo_container import EchoContainer

def build(settings, loop, log):
    if "start" in sys.argv:
        os.kill(os.getpid(), signal.SIGTERM)
        raise serve.StorageUnusable("it is away")
    container = EchoContainer(settings)
    container.when_fenced = lambda call: call()
    container.close = lambda: os.kill(os.getpid(), signal.SIGTERM)
    return container

values = {"listeners": "127.0.0.1:0", "admin.listeners": "off", "storage": "memory://"}
settings = load_settings({name: Given(text, "test") for name, text in values.items()}, {})
sys.exit(serve.run(settings, None, build))
"""


@pytest.mark.parametrize("comes_in_its", ["start", "end"])
def test_a_signal_to_a_broker_that_starts_again_ends_it(comes_in_its: str) -> None:
    """Its loop does not handle it any more."""
    done = subprocess.run(
        [sys.executable, "-c", _FENCED_CHILD, comes_in_its],
        stderr=subprocess.PIPE,
        cwd=_ROOT,
        env={**os.environ, "PYTHONPATH": str(_ROOT), "_OTTLA_FENCED": "1"},
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr
