"""Subscription: which topics the members of a group want, and which of them there are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from typing import Protocol

from domain.groups.consumer.member import MemberSubscription
from domain.topics.topic import Topic

#: Regular expressions with the names of the topics they mean.
ResolvedRegexes = Mapping[str, frozenset[str]]

NO_NAMES: frozenset[str] = frozenset()


class Topics(Protocol):
    """What there is to subscribe to; `layout_revision` rises when a topic comes, goes or grows."""

    topic: Callable[[str], Topic | None]
    topic_by_id: Callable[[bytes], Topic | None]
    layout_revision: int


class Regexes(Protocol):
    """What regular expressions mean, for one decision."""

    #: All that was asked for was known.
    is_complete: bool

    def check(self, regex: str) -> None:
        """Raises InvalidRegularExpression."""
        ...

    def names(self, regex: str, before: frozenset[str] | None, as_of: int) -> frozenset[str] | None:
        """None: it is not known yet, and the group is told when it is.

        `before`: what it meant as of a revision of the topics, so far as that is known.
        """
        ...


def shared(names: frozenset[str], others: Iterable[frozenset[str]]) -> frozenset[str]:
    """The same names, as one set for all that have them.

    Most members of a group want the same thousands of topics, and whether they do is asked for
    each of them again and again: of one and the same set that is known without a look into it.
    """
    for other in others:
        if other is names or other == names:
            return other
    return names


class SharedNames:
    """Sets of names that are in use, each kept once, however many use it.

    Why it is kept once: see `shared`. Where each of ten thousand members has a set of its own,
    none is compared with all others.
    """

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        #: Which set it is, and how many use it.
        self._kept: dict[frozenset[str], tuple[frozenset[str], int]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def copy(self) -> SharedNames:
        copied = SharedNames()
        copied._kept = self._kept.copy()
        return copied

    def use(self, names: frozenset[str]) -> frozenset[str]:
        """The one to be used in its place, until `leave` is called for it."""
        kept, users = self._kept.get(names, (names, 0))
        self._kept[kept] = kept, users + 1
        return kept

    def leave(self, names: frozenset[str]) -> None:
        kept, users = self._kept[names]
        if users > 1:
            self._kept[kept] = kept, users - 1
        else:
            del self._kept[kept]


def wanted_names(member: MemberSubscription, regexes: ResolvedRegexes) -> frozenset[str]:
    names = names_of(member.regex, regexes)
    return member.topics | names if names else member.topics


def names_of(regex: str | None, regexes: ResolvedRegexes) -> frozenset[str]:
    return regexes.get(regex, NO_NAMES) if regex else NO_NAMES


def wanted_topics(
    member: MemberSubscription, regexes: ResolvedRegexes, topics: Topics
) -> dict[bytes, Topic]:
    """By id; what does not exist is left out."""
    found = map(topics.topic, wanted_names(member, regexes))
    return {topic.topic_id: topic for topic in found if topic is not None}


def wanted_by_all(members: Iterable[MemberSubscription], regexes: ResolvedRegexes) -> set[str]:
    wishes = {(member.topics, names_of(member.regex, regexes)) for member in members}
    return set().union(*(names for wish in wishes for names in wish))


def hash_of_topics(names: Iterable[str], topics: Topics) -> str:
    """Differs when one of these topics came, went, came anew or grew."""
    digest = blake2b(digest_size=8)
    for name in sorted(names):
        topic = topics.topic(name)
        if topic is not None:
            digest.update(f"{name}:{len(topic.partition_ids)}:".encode() + topic.topic_id)
    return digest.hexdigest()
