"""Which columns a frame may have that is written: those of Spark's own Kafka connector.

Wrong ones are told before a row is sent. Columns that mean nothing here are left alone, as the
connector does, so what was read can be written again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interfaces.spark.query.failures import WrongOption

_TEXT = ("string", "binary")
_HEADERS = "array<struct<key:string,value:binary>>"
#: What each may be, as Spark writes a type in short.
_TYPES = {
    "value": _TEXT,
    "key": _TEXT,
    "topic": ("string",),
    "partition": ("int",),
    "headers": (_HEADERS,),
    "timestamp": ("timestamp",),
}
_IN_WORDS = {
    "value": "a string or binary",
    "key": "a string or binary",
    "topic": "a string",
    "partition": "an int",
    "headers": "an array of struct<key: string, value: binary>",
    "timestamp": "a timestamp",
}


@dataclass(frozen=True)
class SinkColumns:
    """Those that are there and are used."""

    key: bool
    partition: bool
    headers: bool
    timestamp: bool
    #: Of all rows; None: the column `topic` says it.
    topic: str | None

    @classmethod
    def of(cls, types: Mapping[str, str], topic: str | None, use_timestamp: bool) -> SinkColumns:
        """`types` are Spark's names of them (`simpleString`)."""
        if "value" not in types:
            raise WrongOption(
                f"the column value is missing; there {_are(types)} (cast what is to be written, "
                "like `CAST(id AS STRING) AS value`)"
            )
        if topic is None and "topic" not in types:
            raise WrongOption("no topic: give the option topic, or a column topic")
        if use_timestamp and "timestamp" not in types:
            raise WrongOption("useTimestamp=true, and there is no column timestamp")
        used = {"value", "key", "partition", "headers"}
        used |= {"topic"} if topic is None else set()
        used |= {"timestamp"} if use_timestamp else set()
        for name in used & types.keys():
            if types[name].lower() not in _TYPES[name]:
                raise WrongOption(f"the column {name} is {types[name]}, not {_IN_WORDS[name]}")
        return cls(
            key="key" in types,
            partition="partition" in types,
            headers="headers" in types,
            timestamp=use_timestamp,
            topic=topic,
        )


def _are(types: Mapping[str, str]) -> str:
    names = ", ".join(types)
    return f"are {names}" if len(types) > 1 else f"is {names}" if types else "is no column at all"
