"""What tests make a broker do: faults of requests, and a clock that goes forward."""

from __future__ import annotations

import re

from interfaces.embed.aio import WithBlock
from interfaces.embed.rest import Rest, RestError

#: Seconds, or text: "200ms", "1h30m".
Duration = float | str

_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_PART = re.compile(r"(\d+)(ms|s|m|h|d)")


class Fault(WithBlock):
    """Of requests that match; a `with` block removes it at its end."""

    def __init__(self, rest: Rest, fields: dict[str, object]) -> None:
        self._rest = rest
        self._fault_id = rest.post("test", "faults", body=fields)["fault_id"]
        self._matched = 0

    @property
    def matched(self) -> int:
        """How many requests have matched so far, or before it was removed."""
        for each in self._rest.items("test", "faults"):
            if each["fault_id"] == self._fault_id:
                self._matched = each["matched"]
        return self._matched

    def remove(self) -> None:
        _ = self.matched
        try:
            self._rest.delete("test", "faults", str(self._fault_id))
        except RestError as error:
            if error.error_code != 404:  # a reset has removed it
                raise

    def _close(self) -> None:
        self.remove()


class Clock:
    """Of the broker; clients stay in real time."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def now_ms(self) -> int:
        now: int = self._rest.get("test", "clock")["now_ms"]
        return now

    def advance(self, duration: Duration) -> None:
        """Returns when the timers that are due have fired."""
        self._rest.post("test", "clock", body={"advance_ms": milliseconds(duration)})


def milliseconds(duration: Duration) -> int:
    if not isinstance(duration, str):
        return round(duration * 1000)
    parts = _PART.findall(duration)
    if not parts or "".join(number + unit for number, unit in parts) != duration:
        raise ValueError(f"{duration!r} is not a duration, as 200ms, 10s or 1h30m are")
    return sum(int(number) * _UNITS_MS[unit] for number, unit in parts)
