"""Regexes: the topics that subscriptions by regular expression mean.

What one means is known once for all groups, and followed as topics come and go. Where there is
much to match, that is a background job, and the groups that wait for it are called back.
"""

from __future__ import annotations

from functools import partial
from typing import Protocol

from application.background.runner import Runner
from application.groups.regex_sweeps import RegexSweeps, Sweep
from application.ports.patterns import Pattern, Patterns
from application.state.catalog import Catalog
from domain.errors import InvalidRegularExpression
from domain.groups.consumer.subscription import shared

#: How many expressions are cached with what they mean, and how many names for them together.
KEPT = 256
KEPT_NAMES = 500_000

#: What the looks of one decision may cost at worst before they are left to a background job.
AT_ONCE_NS = 1_000_000
COMPILING_NS = 100_000

#: How much of an expression is shown in the error.
SHOWN = 200

Names = frozenset[str]


class Nothing:
    """In place of a persisted expression that does not compile any more."""

    worst_ns = 0

    def matches(self, name: str) -> bool:
        return False


class Known:
    """What an expression meant as of a revision of the catalogue."""

    __slots__ = ("as_of", "names", "pattern")

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.names: Names | None = None
        self.as_of = -1


class RegexUser(Protocol):
    def uses_regex(self, group_id: str, regex: str) -> bool: ...

    def regexes_resolved(self, group_id: str) -> None:
        """All that the group waits for is found."""
        ...


class Regexes:
    def __init__(
        self, patterns: Patterns, catalog: Catalog, background: Runner, user: RegexUser
    ) -> None:
        self._patterns = patterns
        self._catalog = catalog
        self._sweeps = RegexSweeps(background, self._is_wanted)
        #: The one asked for last is the last.
        self._known: dict[str, Known] = {}
        self._names = 0
        #: Groups by the expressions that they wait for, and the other way round.
        self._groups: dict[str, dict[str, None]] = {}
        self._awaited: dict[str, set[str]] = {}
        #: What was found for them is there until they have taken it, whatever others ask.
        self._found: dict[str, Known] = {}
        self._user = user

    def look(self, group_id: str) -> Look:
        return Look(self, group_id)

    def check(self, regex: str) -> None:
        """Raises InvalidRegularExpression."""
        entry = self._used(regex)
        if entry is None or isinstance(entry.pattern, Nothing):
            self._known.pop(regex, None)
            self._remember(regex, Known(self._compile(regex)))

    def ask(
        self, regex: str, group_id: str, before: Names | None, as_of: int, budget_ns: int
    ) -> tuple[Names | None, int]:
        """What it means, or None if that is to be found first; and what it may have cost.

        `before`: what the group knows of it, as of `as_of`.
        """
        if regex in self._sweeps:
            self._wait(regex, group_id)
            return None, 0
        entry = self._found.get(regex) or self._used(regex)
        if (
            entry is not None
            and entry.names is not None
            and (before is None or entry.as_of >= as_of)
        ):
            before, as_of = entry.names, entry.as_of
        if before is None:
            as_of = -1
        elif as_of == self._catalog.layout_revision:
            return before, 0
        cost_ns = 0 if entry is not None else COMPILING_NS
        if cost_ns <= budget_ns:
            sweep = self._sweep(regex, before, as_of)
            cost_ns += sweep.worst_ns()
            if cost_ns <= budget_ns:
                for _ in sweep.steps():
                    pass
                return self._learn(regex, sweep), cost_ns
        self._wait(regex, group_id)
        self._sweeps.begin(
            regex,
            lambda: self._sweep(regex, before, as_of),
            lambda sweep: self._ended(regex, sweep),
        )
        return None, 0

    # what is known

    def _sweep(self, regex: str, before: Names | None, as_of: int) -> Sweep:
        return Sweep(self._entry(regex).pattern, self._catalog, before, as_of)

    def _entry(self, regex: str) -> Known:
        entry = self._found.get(regex) or self._used(regex)
        if entry is None:
            try:
                entry = Known(self._compile(regex))
            except InvalidRegularExpression:
                entry = Known(Nothing())
            self._remember(regex, entry)
        return entry

    def _used(self, regex: str) -> Known | None:
        entry = self._known.pop(regex, None)
        if entry is not None:
            self._known[regex] = entry
        return entry

    def _compile(self, regex: str) -> Pattern:
        try:
            return self._patterns.compile(regex)
        except InvalidRegularExpression as error:
            shown = regex if len(regex) <= SHOWN else regex[:SHOWN] + "..."
            raise InvalidRegularExpression(
                f"SubscribedTopicRegex `{shown}` is not a valid regular expression: "
                f"{error.message}."
            ) from error

    def _learn(self, regex: str, sweep: Sweep) -> Names:
        known = (one.names for one in self._known.values() if one.names is not None)
        names = shared(sweep.found(), known)
        entry = self._entry(regex)
        if regex in self._known:
            self._names += len(names) - len(entry.names or ())
        entry.names, entry.as_of = names, sweep.as_of
        self._forget()
        return names

    def _remember(self, regex: str, entry: Known) -> None:
        self._known[regex] = entry
        self._forget()

    def _forget(self) -> None:
        """The least recently used; groups have what theirs meant themselves."""
        while len(self._known) > KEPT or (self._names > KEPT_NAMES and len(self._known) > 1):
            oldest = self._known.pop(next(iter(self._known)))
            self._names -= len(oldest.names or ())

    # who waits

    def _wait(self, regex: str, group_id: str) -> None:
        self._groups.setdefault(regex, {})[group_id] = None
        self._awaited.setdefault(group_id, set()).add(regex)

    def _is_wanted(self, regex: str) -> bool:
        return any(
            self._user.uses_regex(group_id, regex) for group_id in self._groups.get(regex, ())
        )

    def _ended(self, regex: str, sweep: Sweep | None) -> None:
        if sweep is not None:
            self._learn(regex, sweep)
            self._found[regex] = self._entry(regex)
        for group_id in self._groups.get(regex, ()):
            if not any(one in self._sweeps for one in self._awaited[group_id]):
                self._sweeps.call(partial(self._resolved, group_id))

    def _resolved(self, group_id: str) -> None:
        regexes = self._awaited.pop(group_id, set())
        for regex in regexes:
            self._groups[regex].pop(group_id, None)
        self._user.regexes_resolved(group_id)
        for regex in regexes:
            if not self._groups.get(regex):
                self._groups.pop(regex, None)
                self._found.pop(regex, None)


class Look:
    """What one decision of a group asks, which may cost so much and no more."""

    def __init__(self, regexes: Regexes, group_id: str) -> None:
        self._regexes = regexes
        self._group_id = group_id
        self._budget_ns = AT_ONCE_NS
        self.is_complete = True

    def check(self, regex: str) -> None:
        """Raises InvalidRegularExpression."""
        self._regexes.check(regex)

    def names(self, regex: str, before: Names | None, as_of: int) -> Names | None:
        names, cost_ns = self._regexes.ask(regex, self._group_id, before, as_of, self._budget_ns)
        self._budget_ns -= cost_ns
        self.is_complete &= names is not None
        return names
