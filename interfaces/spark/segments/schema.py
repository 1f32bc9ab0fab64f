"""The columns of `ottla-segments`: those of Spark's Kafka connector, and of batches on request.

With a schema given by `.schema(...)`, only its columns are decoded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interfaces.spark.query.columns import columns
from interfaces.spark.query.failures import WrongOption

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

#: About the batch of a record.
BATCH_COLUMNS = (
    "batchOffset bigint, batchRecords int, batchBytes int, batchOpenedBytes int, codec string, "
    "producerId bigint, isControl boolean, problem string"
)
#: Spark's simpleString of the type.
_HEADERS = "array<struct<key:string,value:binary>>"


def all_columns(with_headers: bool, with_batches: bool) -> str:
    """A schema in Spark's DDL."""
    ours = columns(with_headers)
    return f"{ours}, {BATCH_COLUMNS}" if with_batches else ours


def check_schema(given: StructType) -> None:
    known = dict(pair.split(" ") for pair in all_columns(False, True).split(", "))
    known["headers"] = _HEADERS
    for field in given.fields:
        if field.name not in known:
            raise WrongOption(
                f"unknown column {field.name} of ottla-segments; it has {', '.join(known)}"
            )
        kind = field.dataType.simpleString()
        if kind != known[field.name]:
            raise WrongOption(f"the column {field.name} is {known[field.name]}, not {kind}")
