"""A row of the table of differences, and which differences it allows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from tests.oracle.compare import MISSING, Found
from tests.oracle.scenario import versions_in


class Words(str):
    """A description in place of an exact value."""


@dataclass(frozen=True)
class Difference:
    """`at` names steps as "scenario: step"; `*` in it, or in `field`, matches anything.

    A row is valid if each of `at` differs in this field, together in all of the versions.
    """

    api: str
    versions: str
    at: tuple[str, ...]
    field: str
    kafka: Any
    ours: Any
    reason: str
    #: Fields with exactly these values, where the others are only described.
    pinned: tuple[tuple[str, Any, Any], ...] = ()

    def expects(self, title: str, found: Found) -> bool:
        api, _, name = title.partition("/")
        return (
            api == self.api
            and found.version in versions_in(self.versions)
            and any(fnmatchcase(f"{name}: {found.step}", pattern) for pattern in self.at)
            and _is_field(self.field, found.field)
            and _is(self.kafka, found.kafka)
            and _is(self.ours, found.ours)
            and all(
                (found.kafka, found.ours) == (kafka, ours)
                for field, kafka, ours in self.pinned
                if field == found.field
            )
        )

    def covers(self, title: str, step: str) -> str | None:
        """Returns the item of `at` that matches the step."""
        name = title.partition("/")[2]
        return next((one for one in self.at if fnmatchcase(f"{name}: {step}", one)), None)


def _is_field(pattern: str, field: str) -> bool:
    return re.fullmatch(re.escape(pattern).replace(r"\*", ".*"), field) is not None


def _is(expected: Any, value: Any) -> bool:
    return isinstance(expected, Words) or (type(expected) is type(value) and expected == value)


def shown(value: Any) -> str:
    if isinstance(value, Words):
        return str(value)
    return "left out" if value is MISSING else f"`{json.dumps(value, ensure_ascii=False)}`"


def unexpected(table: Sequence[Difference], title: str, found: Iterable[Found]) -> list[Found]:
    return [one for one in found if not any(row.expects(title, one) for row in table)]


def untrue(table: Sequence[Difference], found: Iterable[tuple[str, Found]]) -> list[str]:
    """Returns the rows that name more than differs."""
    everything = list(found)
    complaints = []
    for row in table:
        met = [(title, one) for title, one in everything if row.expects(title, one)]
        places = {row.covers(title, one.step) for title, one in met}
        versions = {one.version for _, one in met}
        claim = f"{row.api} {row.field} ({row.reason})"
        complaints += [f"{claim}: {one!r} does not differ" for one in row.at if one not in places]
        if versions != set(versions_in(row.versions)):
            complaints.append(f"{claim}: differs in {sorted(versions)}, not {row.versions}")
    return complaints
