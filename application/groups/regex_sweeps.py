"""RegexSweeps: regular expressions are tried on many names in slices, beside requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from application.background.job import SLICE, Job
from application.background.runner import Runner
from application.ports.patterns import Pattern
from application.state.catalog import Catalog

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
        """What the rest of it costs at worst."""
        return NAME_NS * len(self._names) + self._pattern.worst_ns * sum(map(len, self._names))

    def steps(self) -> Job[None]:
        """One name each."""
        while not self.is_done():
            name = self._names.pop()
            is_meant = self._catalog.topic(name) is not None and self._pattern.matches(name)
            into, out_of = (self._came, self._went) if is_meant else (self._went, self._came)
            into.add(name)
            out_of.discard(name)
            yield SLICE

    def is_done(self) -> bool:
        """There is nothing left, also of what changed in the meantime."""
        if not self._names and self.as_of != self._catalog.layout_revision:
            self._catch_up()
        return not self._names

    def found(self) -> frozenset[str]:
        if self._came <= self._known and self._went.isdisjoint(self._known):
            return self._known
        return (self._known - self._went) | self._came


class RegexSweeps:
    """One after the other, so that many of them take no more of the loop than one."""

    def __init__(self, background: Runner, is_wanted: Callable[[str], bool]) -> None:
        """A sweep whose expression is not wanted any more when its turn comes is skipped."""
        self._background = background
        self._is_wanted = is_wanted
        self._waiting: dict[str, tuple[Callable[[], Sweep], Callable[[Sweep | None], None]]] = {}
        self._running: str | None = None
        self._calls: deque[Callable[[], None]] = deque()

    def __contains__(self, regex: str) -> bool:
        return regex in self._waiting or regex == self._running

    def begin(
        self, regex: str, start: Callable[[], Sweep], then: Callable[[Sweep | None], None]
    ) -> None:
        """`then` gets the sweep when it is done, or None if it was skipped."""
        self._waiting[regex] = start, then
        self._background.start(self._sweep, pauses=False)

    def call(self, callback: Callable[[], None]) -> None:
        """In a step of its own, by `then`."""
        self._calls.append(callback)

    def _sweep(self) -> Job[None]:
        while self._calls or self._waiting:
            if self._calls:
                self._calls.popleft()()
                yield SLICE
            else:
                yield from self._next()

    def _next(self) -> Job[None]:
        regex = next(iter(self._waiting))
        start, then = self._waiting.pop(regex)
        sweep = None
        if self._is_wanted(regex):
            self._running = regex
            try:
                sweep = start()
                yield from sweep.steps()
            finally:
                self._running = None
        then(sweep)
