"""Where a record comes from, in one of its headers: a reader can drop what a replay sent again.

A micro-batch that failed is sent once more by the next run of its query, with the same number; a
task that failed, by its next attempt. Query, batch, partition and row number are the same then,
provided that Spark reads the same rows in the same order again, as from Kafka or from files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interfaces.spark.kafka.sink_rows import Header

if TYPE_CHECKING:
    from pyspark import TaskContext

HEADER = "ottla.provenance"
#: How Spark tells its tasks of the query that they are part of.
_QUERY, _BATCH = "sql.streaming.queryId", "streaming.sql.batchId"


class Provenance:
    """`QUERY/BATCH/PARTITION/ROW`; a batch write has an id of its own, and is batch 0."""

    def __init__(self, query: str, batch: str, partition: int) -> None:
        self._start = f"{query}/{batch}/{partition}/".encode()

    @classmethod
    def of(cls, task: TaskContext, otherwise: str) -> Provenance:
        query = task.getLocalProperty(_QUERY) or otherwise
        return cls(query, task.getLocalProperty(_BATCH) or "0", task.partitionId())

    def stamp(self, row: int) -> Header:
        return HEADER, b"%b%d" % (self._start, row)
