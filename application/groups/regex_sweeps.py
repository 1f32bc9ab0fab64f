"""RegexSweeps: regular expressions are tried on many names in slices, while requests go on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from application.ports.patterns import Pattern
from application.topics.catalog import Catalog
from application.upkeep.spare_time import SpareTime

#: What one slice may cost at worst.
SLICE_NS = 1_000_000

#: What a name costs whatever the expression is.
NAME_NS = 1_000


class Sweep:
    """One expression on its way through the names of a catalogue."""

    def __init__(
        self, pattern: Pattern, catalog: Catalog, known: frozenset[str] | None, as_of: int
    ) -> None:
        """`known`: what it meant as of a revision of the catalogue, so far as that is known."""
        self._pattern = pattern
        self._catalog = catalog
        self._known = known if known is not None and as_of >= 0 else frozenset()
        self._came: set[str] = set()
        self._went: set[str] = set()
        self._names: list[str] = []
        self.as_of = as_of
        self._catch_up()

    def _catch_up(self) -> None:
        changed = self._catalog.moved_since(self.as_of)
        if changed is None:
            self._known = frozenset()
            self._came.clear()
            self._went.clear()
            changed = {topic.name for topic in self._catalog}
        self._names = list(changed)
        self.as_of = self._catalog.layout_revision

    def worst_ns(self) -> int:
        return _worst_ns(self._pattern, self._names)

    def go_on(self, budget_ns: int) -> int:
        """Returns what is left of the budget; below 0 if the last name took more."""
        while not self.is_done() and budget_ns > 0:
            name = self._names.pop()
            is_meant = self._catalog.topic(name) is not None and self._pattern.matches(name)
            into, out_of = (self._came, self._went) if is_meant else (self._went, self._came)
            into.add(name)
            out_of.discard(name)
            budget_ns -= _worst_ns(self._pattern, (name,))
        return budget_ns

    def is_done(self) -> bool:
        """There is nothing left, also of what changed in the meantime."""
        if not self._names and self.as_of != self._catalog.layout_revision:
            self._catch_up()
        return not self._names

    def found(self) -> frozenset[str]:
        if self._came <= self._known and self._went.isdisjoint(self._known):
            return self._known
        return (self._known - self._went) | self._came


def _worst_ns(pattern: Pattern, names: Iterable[str]) -> int:
    lengths = [len(name) for name in names]
    return NAME_NS * len(lengths) + pattern.worst_ns * sum(lengths)


class RegexSweeps:
    """One after the other, so that many of them take no more of the loop than one."""

    def __init__(self, spare_time: SpareTime, is_wanted: Callable[[str], bool]) -> None:
        """What nobody wants any more when its turn comes is left."""
        self._spare_time = spare_time
        self._is_wanted = is_wanted
        self._waiting: dict[str, tuple[Callable[[], Sweep], Callable[[Sweep | None], None]]] = {}
        self._running: tuple[str, Sweep, Callable[[Sweep | None], None]] | None = None
        self._calls: deque[Callable[[], None]] = deque()
        self._goes_on = False

    def __contains__(self, regex: str) -> bool:
        return regex in self._waiting or (self._running is not None and self._running[0] == regex)

    def begin(
        self, regex: str, start: Callable[[], Sweep], then: Callable[[Sweep | None], None]
    ) -> None:
        """`then` gets the sweep when it is done, or None if it was not wanted any more."""
        self._waiting[regex] = start, then
        self._soon()

    def call(self, callback: Callable[[], None]) -> None:
        """In a slice of its own."""
        self._calls.append(callback)
        self._soon()

    def _soon(self) -> None:
        if not self._goes_on and (self._calls or self._running or self._waiting):
            self._goes_on = True
            self._spare_time.soon(self._slice)

    def _slice(self) -> None:
        self._goes_on = False
        if self._calls:
            self._calls.popleft()()
        elif self._running is not None:
            _, sweep, then = self._running
            sweep.go_on(SLICE_NS)
            if sweep.is_done():
                self._running = None
                then(sweep)
        else:
            self._next()
        self._soon()

    def _next(self) -> None:
        regex = next(iter(self._waiting))
        start, then = self._waiting.pop(regex)
        if self._is_wanted(regex):
            self._running = regex, start(), then
        else:
            then(None)
