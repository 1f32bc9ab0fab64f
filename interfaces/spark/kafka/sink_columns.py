"""The columns of a frame that is written: those of Spark's own Kafka connector.

Other columns are ignored, as by the connector, so a frame that was read can be written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from interfaces.spark.query.failures import WrongOption

_BYTES = ("string", "binary")
#: Column types as Spark's simpleString.
_TYPES = {
    "value": _BYTES,
    "key": _BYTES,
    "topic": ("string",),
    "partition": ("int",),
    "headers": ("array<struct<key:string,value:binary>>",),
    "timestamp": ("timestamp",),
}


@dataclass(frozen=True)
class SinkColumns:
    """Which columns are used."""

    key: bool
    partition: bool
    headers: bool
    timestamp: bool
    #: The topic of all rows; None: that of the column `topic`.
    topic: str | None

    @classmethod
    def of(cls, types: Mapping[str, str], topic: str | None, use_timestamp: bool) -> SinkColumns:
        """`types` has the simpleString of each column's type."""
        if "value" not in types:
            raise WrongOption(
                f"the column value is missing; the columns are: {', '.join(types)} (cast one, "
                "like `CAST(id AS STRING) AS value`)"
            )
        if topic is None and "topic" not in types:
            raise WrongOption("no topic: set option topic, or add a column topic")
        if use_timestamp and "timestamp" not in types:
            raise WrongOption("useTimestamp=true needs a column timestamp")
        unused = {"topic"} if topic is not None else set()
        unused |= set() if use_timestamp else {"timestamp"}
        for name in sorted(_TYPES.keys() & types.keys() - unused):
            if types[name].lower() not in _TYPES[name]:
                expected = " or ".join(_TYPES[name])
                raise WrongOption(f"the column {name} is {types[name]}, expected {expected}")
        return cls(
            key="key" in types,
            partition="partition" in types,
            headers="headers" in types,
            timestamp=use_timestamp,
            topic=topic,
        )
