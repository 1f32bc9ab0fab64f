"""Subscriptions: subscribed topics of members."""

from __future__ import annotations

from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
)
from hashlib import blake2b
from typing import Generic, Protocol, TypeVar

from domain.groups.consumer.member import MemberSubscription
from domain.topics.topic import Topic

H = TypeVar("H", bound=Hashable)

#: Topic names by regular expression.
ResolvedRegexes = Mapping[str, frozenset[str]]

NO_NAMES: frozenset[str] = frozenset()


class Topics(Protocol):
    """All topics; `layout_revision` rises if a topic is created, deleted or gets partitions."""

    topic: Callable[[str], Topic | None]
    topic_by_id: Callable[[bytes], Topic | None]
    layout_revision: int


class Regexes(Protocol):
    """Resolves regular expressions for one decision."""

    #: All requested expressions were resolved against the current topics.
    is_complete: bool

    def check(self, regex: str) -> None:
        """Raises InvalidRegularExpression."""
        ...

    def resolve(self, regexes: Collection[str]) -> ResolvedRegexes:
        """Those that can be resolved now; the rest is resolved in the background."""
        ...


class RefCounts(Generic[H]):
    """Interns values of members, with reference counts.

    Most members of a group subscribe to the same thousands of topics, and their sets of names are
    compared with each heartbeat: identical objects compare fast.
    """

    __slots__ = ("counts",)

    def __init__(self, counts: MutableMapping[H, tuple[H, int]]) -> None:
        #: The shared object, and its number of users.
        self.counts = counts

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[H]:
        return iter(self.counts)

    def __contains__(self, value: object) -> bool:
        return value in self.counts

    def use(self, value: H) -> H:
        """Returns the shared object, to be used until `leave`."""
        held, users = self.counts.get(value, (value, 0))
        self.counts[held] = held, users + 1
        return held

    def leave(self, value: H) -> None:
        held, users = self.counts[value]
        if users > 1:
            self.counts[held] = held, users - 1
        else:
            del self.counts[held]


def subscribed_names(member: MemberSubscription, regexes: ResolvedRegexes) -> frozenset[str]:
    names = names_of(member.regex, regexes)
    return member.topics | names if names else member.topics


def names_of(regex: str | None, regexes: ResolvedRegexes) -> frozenset[str]:
    return regexes.get(regex, NO_NAMES) if regex else NO_NAMES


def subscribed_topics(
    member: MemberSubscription, regexes: ResolvedRegexes, topics: Topics
) -> dict[bytes, Topic]:
    """By id, without unknown topics."""
    found = map(topics.topic, subscribed_names(member, regexes))
    return {topic.topic_id: topic for topic in found if topic is not None}


def hash_of_topics(names: Iterable[str], topics: Topics) -> str:
    """Changes if one of these topics is created, deleted, created again or gets partitions."""
    digest = blake2b(digest_size=8)
    for name in sorted(names):
        topic = topics.topic(name)
        if topic is not None:
            digest.update(f"{name}:{len(topic.partition_ids)}:".encode() + topic.topic_id)
    return digest.hexdigest()
