"""The columns of `ottla-segments`: those of Spark's Kafka connector, and of batches on request.

Whoever gives a schema of their own gets those columns and no others: what is not wanted is not
copied out of its batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interfaces.spark.query.columns import columns
from interfaces.spark.query.failures import WrongOption

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

#: Of the batch that a record came in.
BATCH_COLUMNS = (
    "batchOffset bigint, batchRecords int, batchBytes int, batchOpenedBytes int, codec string, "
    "producerId bigint, isControl boolean, problem string"
)
#: As Spark writes the type on its own.
_HEADERS = "array<struct<key:string,value:binary>>"


def all_columns(with_headers: bool, with_batches: bool) -> str:
    """As Spark writes a schema."""
    ours = columns(with_headers)
    return f"{ours}, {BATCH_COLUMNS}" if with_batches else ours


def check_schema(wanted: StructType) -> None:
    known = dict(pair.split(" ") for pair in all_columns(False, True).split(", "))
    known["headers"] = _HEADERS
    for field in wanted.fields:
        if field.name not in known:
            raise WrongOption(
                f"ottla-segments has no column {field.name}; it has {', '.join(known)}"
            )
        given = field.dataType.simpleString()
        if given != known[field.name]:
            raise WrongOption(f"the column {field.name} is {known[field.name]}, not {given}")
