"""What several brokers have acknowledged, and what of it is still true when their store goes back.

A broker that goes on with an earlier state of the store has all it has acknowledged. What others
have acknowledged since that state is lost.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tests.fakes.shared_store import SharedBroker
from tests.simulation.model import Violation


class _Recent(NamedTuple):
    broker: SharedBroker
    key: Any
    value: Any


class Acknowledged:
    def __init__(self) -> None:
        #: Records by place; or groups by group and offset.
        self.values: dict[Any, Any] = {}
        self._standby: dict[Any, Any] = {}
        #: Since the standby is a copy, or by brokers that may go on.
        self._recent: list[_Recent] = []
        self.lost = 0

    def add(self, broker: SharedBroker, key: Any, value: Any) -> None:
        self._recent.append(_Recent(broker, key, value))
        self.values[key] = value

    def copied(self) -> None:
        """To the standby, without what is to be repeated still."""
        self._standby = dict(self.values)
        self._recent = [one for one in self._recent if one.broker.commit.is_to_check]

    def went_back(self) -> None:
        self.lost += len(self.values) - len(self._standby)
        self.values = dict(self._standby)

    def went_on(self, broker: SharedBroker) -> None:
        for one in self._recent:
            if one.broker is broker:
                if self.values.get(one.key, one.value) != one.value:
                    raise Violation(f"{one.key} has {self.values[one.key]} and {one.value}")
                self.values[one.key] = one.value
