"""Event: a row of the tables of events (events.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

INFO, WARNING, ERROR = ("info",), ("warning",), ("error",)


class Event(NamedTuple):
    levels: tuple[str, ...]
    #: Separated by spaces; not every line has all.
    fields: str
    meaning: str
    #: The values of `reason`, where they are a closed set.
    reasons: Mapping[str, str] = {}
