"""Which partitions are read: one of subscribe, subscribePattern and assign says it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from interfaces.spark.query.failures import JobFailed, WrongOption
from interfaces.spark.query.java_pattern import compiled
from interfaces.spark.query.options import Options
from interfaces.spark.query.partitions_json import partitions_of
from interfaces.spark.query.ranges import Place

WAYS = ("subscribe", "subscribePattern", "assign")
#: Of the broker itself: a pattern never means them.
_INTERNAL = ("__consumer_offsets", "__share_group_state", "__transaction_state")


@dataclass(frozen=True)
class Assignment:
    """`topics` are looked up by name; a `pattern` is held against all that there are."""

    topics: tuple[str, ...] = ()
    pattern: str = ""
    places: tuple[Place, ...] = ()

    def matches(self, topic: str) -> bool:
        return topic not in _INTERNAL and compiled(self.pattern).fullmatch(topic) is not None

    def names(self, topic: str) -> bool:
        """Whether it is one of those that are read, there or not."""
        return topic in self.topics or (bool(self.pattern) and self.matches(topic))

    def gone(self, place: Place) -> str:
        """Of one that was read before, and is not found."""
        is_read = place in self.places if self.places else self.names(place.topic)
        return f"{place} is not {'there' if is_read else 'among what is read'} any more"

    def among(
        self, partitions: Mapping[str, int], where: str, lenient: bool = False
    ) -> list[Place]:
        """`partitions`: of each topic that there is `where`, how many it has. `lenient`: read what
        is there, and miss nothing."""
        missing = [topic for topic in self.topics if topic not in partitions]
        if missing and not lenient:
            raise JobFailed(f"there is no topic {missing[0]} {where}")
        if self.places:
            there = [p for p in self.places if p.partition < partitions.get(p.topic, 0)]
            gone = [place for place in self.places if place not in set(there)]
            if gone and not lenient:
                raise JobFailed(f"there is no partition {gone[0]} {where}")
            return there
        return sorted(
            Place(topic, number)
            for topic, count in partitions.items()
            if self.names(topic)
            for number in range(count)
        )


def assignment_of(options: Options) -> Assignment:
    found = assignment_in(options, WAYS)
    if found is None:
        raise WrongOption(f"one of the options {', '.join(WAYS)} must say what is read")
    return found


def assignment_in(options: Options, ways: Sequence[str]) -> Assignment | None:
    """None: no option says what is read."""
    said = [way for way in ways if options.text(way)]
    if not said:
        return None
    if len(said) > 1:
        raise WrongOption(f"{' and '.join(said)} exclude each other: one says what is read")
    way, text = said[0], options.text(said[0]) or ""
    if way == "assign":
        places = partitions_of("assign", text)
        return Assignment(tuple(dict.fromkeys(p.topic for p in places)), places=tuple(places))
    if way == "subscribePattern":
        return Assignment(pattern=_pattern(text))
    topics = tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
    if not topics:
        raise WrongOption(f"{way}: {text!r} names no topic")
    return Assignment(topics)


def _pattern(text: str) -> str:
    try:
        compiled(text)
    except ValueError as wrong:
        raise WrongOption(f"subscribePattern: {text!r} cannot be used: {wrong}") from None
    return text
