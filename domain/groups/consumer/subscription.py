"""Subscription: the topics that the members of a group subscribe to, and which of them exist."""

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

#: Regular expressions with the names of the topics they mean.
ResolvedRegexes = Mapping[str, frozenset[str]]

NO_NAMES: frozenset[str] = frozenset()


class Topics(Protocol):
    """What there is to subscribe to; `layout_revision` rises when a topic comes, goes or grows."""

    topic: Callable[[str], Topic | None]
    topic_by_id: Callable[[bytes], Topic | None]
    layout_revision: int


class Regexes(Protocol):
    """Resolves regular expressions for one decision."""

    #: Whether all that were asked for are resolved against the current topics.
    is_complete: bool

    def check(self, regex: str) -> None:
        """Raises InvalidRegularExpression."""
        ...

    def resolve(self, regexes: Collection[str]) -> ResolvedRegexes:
        """Those that can be resolved now; the others are resolved in the background."""
        ...


class RefCounts(Generic[H]):
    """Values that members use, each held once, however many use it.

    Most members of a group subscribe to the same thousands of topics, and their sets of names are
    compared again and again: that two are one and the same is seen without a look into them.
    """

    __slots__ = ("counts",)

    def __init__(self, counts: MutableMapping[H, tuple[H, int]]) -> None:
        #: The value that all use, and how many do.
        self.counts = counts

    def __len__(self) -> int:
        return len(self.counts)

    def __iter__(self) -> Iterator[H]:
        return iter(self.counts)

    def __contains__(self, value: object) -> bool:
        return value in self.counts

    def use(self, value: H) -> H:
        """The one to be used in its place, until `leave` is called for it."""
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
    """By id; what does not exist is left out."""
    found = map(topics.topic, subscribed_names(member, regexes))
    return {topic.topic_id: topic for topic in found if topic is not None}


def hash_of_topics(names: Iterable[str], topics: Topics) -> str:
    """Differs when one of these topics was created, deleted, created again or grew."""
    digest = blake2b(digest_size=8)
    for name in sorted(names):
        topic = topics.topic(name)
        if topic is not None:
            digest.update(f"{name}:{len(topic.partition_ids)}:".encode() + topic.topic_id)
    return digest.hexdigest()
