"""Which partitions are read: exactly one of subscribe, subscribePattern and assign says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from interfaces.spark.failures import JobFailed, WrongOption
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.partitions_json import partitions_of
from interfaces.spark.kafka.ranges import Place

_WAYS = ("subscribe", "subscribePattern", "assign")
#: Of the broker itself: a pattern never means them.
_INTERNAL = ("__consumer_offsets", "__share_group_state", "__transaction_state")


@dataclass(frozen=True)
class Assignment:
    """`topics` are looked up by name; a `pattern` is held against all that there are."""

    topics: tuple[str, ...] = ()
    pattern: str = ""
    places: tuple[Place, ...] = ()

    def matches(self, topic: str) -> bool:
        return topic not in _INTERNAL and re.fullmatch(self.pattern, topic) is not None

    def names(self, topic: str) -> bool:
        """Whether it is one of those that are read, there or not."""
        return topic in self.topics or (bool(self.pattern) and self.matches(topic))

    def among(
        self, partitions: Mapping[str, int], servers: str, lenient: bool = False
    ) -> list[Place]:
        """`partitions`: of each topic that was found, how many it has. `lenient`: read what is
        there, and miss nothing."""
        if self.places:
            there = [p for p in self.places if p.partition < partitions.get(p.topic, 0)]
            missing = [p for p in self.places if p not in set(there)]
            if missing and not lenient:
                raise JobFailed(f"there is no partition {missing[0]} at {servers}")
            return there
        missing_topics = [topic for topic in self.topics if topic not in partitions]
        if missing_topics and not lenient:
            raise JobFailed(f"there is no topic {missing_topics[0]} at {servers}")
        return sorted(
            Place(t, number) for t, count in partitions.items() for number in range(count)
        )


def assignment_of(options: KafkaOptions) -> Assignment:
    ways = [way for way in _WAYS if options.text(way)]
    if not ways:
        raise WrongOption(f"one of the options {', '.join(_WAYS)} must say what is read")
    if len(ways) > 1:
        raise WrongOption(f"{' and '.join(ways)} exclude each other: one says what is read")
    way, text = ways[0], options.text(ways[0]) or ""
    if way == "assign":
        places = partitions_of("assign", text)
        return Assignment(tuple(dict.fromkeys(p.topic for p in places)), places=tuple(places))
    if way == "subscribe":
        topics = tuple(dict.fromkeys(filter(None, map(str.strip, text.split(",")))))
        if not topics:
            raise WrongOption(f"subscribe: {text!r} names no topic")
        return Assignment(topics)
    try:
        re.compile(text)
    except re.error as wrong:
        raise WrongOption(f"subscribePattern: {text!r} is no regular expression: {wrong}") from None
    return Assignment(pattern=text)
