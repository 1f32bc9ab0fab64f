"""`write` and `writeStream` of the data source `ottla`.

All replicas acknowledge a record before its task ends, and the producer is idempotent. Spark sends
the records of a failed task or micro-batch again (at least once); with
`exactlyOnce=true` see sink_transactions.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark import TaskContext
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from interfaces.spark.kafka.client_settings import may_be_idempotent
from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.sink_attempts import refuse_another
from interfaces.spark.kafka.sink_columns import SinkColumns
from interfaces.spark.kafka.sink_rows import Rows, Stamp
from interfaces.spark.kafka.sink_sending import Sending
from interfaces.spark.kafka.sink_transactions import TransactionalSending
from interfaces.spark.query.failures import WrongOption

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.types import StructType

_REFUSED = {
    "kafka.partitioner.class": "set kafka.partitioner to one of librdkafka's names",
    "kafka.transactional.id": "streams write in transactions with exactlyOnce=true",
}
PROVENANCE = "ottla.provenance"
#: Local properties that Spark sets for the tasks of a streaming query.
_QUERY, _BATCH = "sql.streaming.queryId", "streaming.sql.batchId"


def stamp_of(task: TaskContext, write_id: str) -> Stamp:
    """recordProvenance: a header QUERY/BATCH/PARTITION/ROW, the same when Spark sends a row again.

    That holds if Spark reads the same rows in the same order, as from Kafka or from files. A batch
    write has an id of its own instead of the query's.
    """
    query = task.getLocalProperty(_QUERY) or write_id
    batch = task.getLocalProperty(_BATCH) or "0"
    start = f"{query}/{batch}/{task.partitionId()}/".encode()
    return lambda row: (PROVENANCE, b"%b%d" % (start, row))


@dataclass
class Sent(WriterCommitMessage):
    """All rows of a task are acknowledged."""

    partition: int
    rows: int


class _Writing:
    """The driver creates it, before a row is sent, and pickles it for the tasks."""

    def __init__(self, options: KafkaOptions, schema: StructType) -> None:
        for name, why in _REFUSED.items():
            if name in options:
                raise WrongOption(f"option {name} is not supported: {why}")
        types = {field.name: field.dataType.simpleString() for field in schema.fields}
        self._options = options
        self._columns = SinkColumns.of(
            types, options.text("topic"), options.flag("useTimestamp", False)
        )
        self._records_provenance = options.flag("recordProvenance", False)
        self._is_exactly_once = options.flag("exactlyOnce", False)
        if self._is_exactly_once and not may_be_idempotent(options.client()):
            raise WrongOption(
                "exactlyOnce=true needs kafka.acks=all, retries and at most 5 requests in flight"
            )
        self._id = str(uuid4())

    def write(self, iterator: Iterator[pyarrow.RecordBatch]) -> Sent:
        task = TaskContext.get()
        assert task is not None, "Spark calls write in a task"
        refuse_another(task)
        sending = self._sending(task)
        stamp = stamp_of(task, self._id) if self._records_provenance else None
        rows = Rows(self._columns, sending.delivered, stamp)
        try:
            for batch in iterator:
                for topics, part, bytes_beside_values in rows.slices(batch):
                    sending.send(topics, part, bytes_beside_values)
            sending.finish()
        except BaseException:
            sending.abort()
            raise
        return Sent(task.partitionId(), rows.number)

    def _sending(self, task: TaskContext) -> Sending:
        if not self._is_exactly_once:
            return Sending(self._options)
        query, batch = task.getLocalProperty(_QUERY), task.getLocalProperty(_BATCH)
        assert query is not None and batch is not None, "Spark sets them for streams"
        return TransactionalSending(self._options, query, int(batch), task.partitionId())


class BatchWriter(_Writing, DataSourceArrowWriter):
    def __init__(self, options: KafkaOptions, schema: StructType, overwrite: bool) -> None:
        if overwrite:
            raise WrongOption('a topic cannot be overwritten: write with mode("append")')
        super().__init__(options, schema)
        if self._is_exactly_once:
            raise WrongOption("exactlyOnce=true needs writeStream: a batch has no checkpoint")


class StreamWriter(_Writing, DataSourceStreamArrowWriter):
    """Appends rows in every output mode, as the connector does."""
