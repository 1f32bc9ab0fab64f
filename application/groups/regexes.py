"""Regexes: the topics that match subscriptions by regular expression (KIP-848).

A decision resolves the expressions of its group within one slice. With many topics or a slow
expression a background job resolves them instead, one group after the other, and calls back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from application.background.job import SLICE, Job
from application.background.runner import Runner
from application.groups.registry import Groups
from application.ports.patterns import CompilePattern, Matches
from application.state.catalog import Catalog
from domain.errors import InvalidRegularExpression
from domain.groups.consumer.group import ConsumerGroup

#: Limits of the cache: expressions, and topic names of all of them.
CACHED = 64
CACHED_NAMES = 500_000

Names = frozenset[str]


class Regexes:
    def __init__(
        self,
        groups: Groups,
        catalog: Catalog,
        compile_pattern: CompilePattern,
        background: Runner,
        resolved: Callable[[ConsumerGroup, GroupRegexes], None],
    ) -> None:
        self._groups = groups
        self._catalog = catalog
        self._compile_pattern = compile_pattern
        self._background = background
        self._resolved = resolved
        #: By expression: the layout revision of the catalogue, and the names that match.
        self._cached: dict[str, tuple[int, Names]] = {}
        self._cached_names = 0
        #: Groups that wait for the job.
        self._waiting: dict[str, None] = {}

    def compile(self, regex: str) -> Matches:
        try:
            return self._compile_pattern(regex)
        except InvalidRegularExpression as error:
            raise InvalidRegularExpression(
                f"SubscribedTopicRegex `{regex:.200}` is not a valid regular expression: "
                f"{error.message}."
            ) from error

    def resolve(self, group_id: str, regexes: Collection[str]) -> dict[str, Names]:
        """Those that can be resolved in one slice; the others follow by callback."""
        found: dict[str, Names] = {}
        if group_id in self._waiting:
            return found
        job = self._background.run(self._resolve_all(regexes, found), ends_when_abandoned=True)
        if not job.resolved:
            job.abandon()
            self._waiting[group_id] = None
            self._background.start(self._resolve_waiting, pauses=False)
        return found

    def _resolve_waiting(self) -> Job[None]:
        while self._waiting:
            group_id = next(iter(self._waiting))
            revision = self._catalog.layout_revision
            group = ConsumerGroup.of(self._groups.find(group_id))
            found: dict[str, Names] = {}
            try:
                if group is not None:
                    for step in self._resolve_all(list(group.used_regexes), found):
                        yield step
                        if self._groups.find(group_id) is None:
                            break  # it is deleted, or another node coordinates it
            finally:
                del self._waiting[group_id]
            group = ConsumerGroup.of(self._groups.find(group_id))
            if group is not None and group.members:
                is_current = revision == self._catalog.layout_revision
                self._resolved(group, GroupRegexes(self, group_id, found, is_current))
            yield SLICE

    def _resolve_all(self, regexes: Collection[str], found: dict[str, Names]) -> Job[None]:
        for regex in regexes:
            found[regex] = yield from self._resolve(regex)

    def _resolve(self, regex: str) -> Job[Names]:
        revision = self._catalog.layout_revision
        before_revision, before = self._cached.get(regex, (None, None))
        if before is not None and before_revision == revision:
            return before
        try:
            matches = self.compile(regex)
        except InvalidRegularExpression:
            return frozenset()  # persisted by a version that accepted it
        matching = []
        for name in [topic.name for topic in self._catalog]:
            if matches(name):
                matching.append(name)
            yield SLICE
        names = frozenset(matching)
        if names == before:
            names = before  # groups share this object
        self._cached_names += len(names) - len(self._cached.pop(regex, (0, ()))[1])
        self._cached[regex] = revision, names
        while len(self._cached) > CACHED or self._cached_names > CACHED_NAMES:
            _, oldest = self._cached.pop(next(iter(self._cached)))
            self._cached_names -= len(oldest)
        return names


class GroupRegexes:
    """The expressions of one group, for one decision."""

    def __init__(
        self, regexes: Regexes, group_id: str, found: dict[str, Names], is_current: bool = True
    ) -> None:
        """`found` is resolved already; not `is_current`: the topics have changed since."""
        self._regexes = regexes
        self._group_id = group_id
        self._found = found
        self.is_complete = is_current

    def check(self, regex: str) -> None:
        self._regexes.compile(regex)

    def resolve(self, regexes: Collection[str]) -> dict[str, Names]:
        missing = [one for one in regexes if one not in self._found]
        if missing:
            self._found |= self._regexes.resolve(self._group_id, missing)
            self.is_complete &= all(one in self._found for one in missing)
        return {one: self._found[one] for one in regexes if one in self._found}
