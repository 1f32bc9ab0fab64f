"""Which partitions are read: one of the options subscribe, subscribePattern and assign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from domain.errors import InvalidRegularExpression
from infrastructure.patterns import compile_large_pattern
from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.query.options import Options
from interfaces.spark.query.partitions_json import partitions_of
from interfaces.spark.query.ranges import Place

WAYS = ("subscribe", "subscribePattern", "assign")
#: A pattern does not match internal topics.
_INTERNAL = ("__consumer_offsets", "__share_group_state", "__transaction_state")
_compiled = lru_cache(16)(compile_large_pattern)


@dataclass(frozen=True)
class Assignment:
    """`topics` are looked up by name; a `pattern` is matched against the names of all topics."""

    topics: tuple[str, ...] = ()
    pattern: str = ""
    places: tuple[Place, ...] = ()

    def matches(self, topic: str) -> bool:
        return topic not in _INTERNAL and _compiled(self.pattern)(topic)

    def names(self, topic: str) -> bool:
        """Whether the topic is read if it exists."""
        return topic in self.topics or (bool(self.pattern) and self.matches(topic))

    def gone(self, place: Place) -> str:
        """The reason why a partition of the checkpoint is not read any more."""
        is_read = place in self.places if self.places else self.names(place.topic)
        return f"{place} is not {'there' if is_read else 'subscribed'} any more"

    def among(
        self, partitions: Mapping[str, int], where: str, lenient: bool = False
    ) -> list[Place]:
        """`partitions` has the partition count of each existing topic. `lenient` skips topics and
        partitions that do not exist."""
        missing = [topic for topic in self.topics if topic not in partitions]
        if missing and not lenient:
            raise JobFailed(f"there is no topic {missing[0]} {where}")
        if self.places:
            existing = [p for p in self.places if p.partition < partitions.get(p.topic, 0)]
            gone = [place for place in self.places if place not in set(existing)]
            if gone and not lenient:
                raise JobFailed(f"there is no partition {gone[0]} {where}")
            return existing
        return sorted(
            Place(topic, number)
            for topic, count in partitions.items()
            if self.names(topic)
            for number in range(count)
        )


def assignment_of(options: Options) -> Assignment:
    found = assignment_in(options, WAYS)
    if found is None:
        raise WrongOption(f"missing option: one of {', '.join(WAYS)}")
    return found


def assignment_in(options: Options, ways: Sequence[str]) -> Assignment | None:
    """None: no option is set."""
    given = [way for way in ways if options.text(way)]
    if not given:
        return None
    if len(given) > 1:
        raise WrongOption(f"{' and '.join(given)} exclude each other")
    way, text = given[0], options.text(given[0]) or ""
    if way == "assign":
        places = partitions_of("assign", text)
        return Assignment(tuple(dict.fromkeys(p.topic for p in places)), places=tuple(places))
    if way == "subscribePattern":
        return Assignment(pattern=_pattern(text))
    topics = tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    if not topics:
        raise WrongOption(f"{way}: no topic in {text!r}")
    return Assignment(topics)


def _pattern(text: str) -> str:
    try:
        _compiled(text)
    except InvalidRegularExpression as wrong:
        raise WrongOption(
            f"option subscribePattern: RE2, which has no lookaround and no backreferences, refuses "
            f"{text!r}: {wrong.message}"
        ) from None
    return text
