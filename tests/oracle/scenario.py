"""A scenario: a short script of steps, run in every version of its API."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from interfaces.kafka.requests.apis import APIS
from tests.e2e.broker_process import Address
from tests.golden.frames import message_of
from tests.oracle import scenarios
from tests.oracle.scenario_run import Exchange, ScenarioRun

Script = Callable[[ScenarioRun], None]


@dataclass(frozen=True)
class Scenario:
    api: str
    name: str
    versions: tuple[int, ...]
    script: Script

    @property
    def title(self) -> str:
        return f"{self.api}/{self.name}"

    def run(self, address: Address, version: int) -> list[Exchange]:
        run = ScenarioRun(address, self.api, self.name, version)
        try:
            self.script(run)
        finally:
            run.close()
        steps = [exchange.step for exchange in run.exchanges]
        assert len(steps) == len(set(steps)), f"{self.title}: two steps have the same name"
        return run.exchanges


_REGISTERED: list[Scenario] = []


def scenario(api: str, first: int = 0, last: int = 1 << 15) -> Callable[[Script], Script]:
    """Registers a script for all served versions from `first` to `last`."""
    lowest, highest = _served(api)
    versions = range(max(lowest, first), min(highest, last) + 1)

    def register(script: Script) -> Script:
        name = script.__name__.replace("_", " ")
        _REGISTERED.append(Scenario(api, name, tuple(versions), script))
        return script

    return register


def _served(api: str) -> tuple[int, int]:
    """APIs that are not served yet can be recorded, in all versions of their messages."""
    row = next((one for one in APIS if one.name == api), None)
    message = message_of(api, "request")
    if row is None:
        return message.min_version, message.max_version
    return row.first_served, row.max_version


def all_scenarios() -> list[Scenario]:
    for module in pkgutil.iter_modules(scenarios.__path__):
        importlib.import_module(f"{scenarios.__name__}.{module.name}")
    return list(_REGISTERED)


def spans(versions: Iterable[int]) -> str:
    """3, 4, 5 and 7 as "3-5,7"."""
    runs: list[list[int]] = []
    for version in sorted(versions):
        if runs and version == runs[-1][-1] + 1:
            runs[-1].append(version)
        else:
            runs.append([version])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def versions_in(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
