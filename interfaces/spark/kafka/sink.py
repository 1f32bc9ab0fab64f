"""What `write` and `writeStream` of the data source `ottla` do in Spark's tasks.

At least once: a record is acknowledged by all replicas before its task is done, an idempotent
producer sends none of them twice, and a task or a micro-batch that failed is sent again.
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

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.sink_attempts import refuse_another
from interfaces.spark.kafka.sink_columns import SinkColumns
from interfaces.spark.kafka.sink_provenance import Provenance
from interfaces.spark.kafka.sink_rows import Rows
from interfaces.spark.kafka.sink_sending import Sending
from interfaces.spark.query.failures import WrongOption

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql.types import StructType

#: Of the client's settings: what would be read and not done.
_REFUSED = {
    "kafka.partitioner.class": "it is a class of Java; kafka.partitioner takes librdkafka's names",
    "kafka.transactional.id": "records are not written in transactions",
}


@dataclass
class Sent(WriterCommitMessage):
    """Of one task: all of its rows are acknowledged."""

    partition: int
    rows: int


class _Writing:
    """What both writers have. It is made by the driver, before any row is sent, and pickled."""

    def __init__(self, options: KafkaOptions, schema: StructType) -> None:
        for name, why in _REFUSED.items():
            if name in options:
                raise WrongOption(f"{name} cannot be set: {why}")
        types = {field.name: field.dataType.simpleString() for field in schema.fields}
        self._options = options
        self._columns = SinkColumns.of(
            types, options.text("topic"), options.flag("useTimestamp", False)
        )
        self._records_provenance = options.flag("recordProvenance", False)
        self._id = str(uuid4())

    def write(self, iterator: Iterator[pyarrow.RecordBatch]) -> Sent:
        task = TaskContext.get()
        assert task is not None, "Spark calls it in a task"
        refuse_another(task)
        sending = Sending(self._options)
        stamp = Provenance.of(task, self._id).stamp if self._records_provenance else None
        rows = Rows(self._columns, sending.delivered, stamp)
        for batch in iterator:
            for topics, part, bytes_beside_values in rows.slices(batch):
                sending.send(topics, part, bytes_beside_values)
        sending.finish()
        return Sent(task.partitionId(), rows.number)


class BatchWriter(_Writing, DataSourceArrowWriter):
    def __init__(self, options: KafkaOptions, schema: StructType, overwrite: bool) -> None:
        if overwrite:
            raise WrongOption('a topic cannot be overwritten: write with mode("append")')
        super().__init__(options, schema)


class StreamWriter(_Writing, DataSourceStreamArrowWriter):
    """In every output mode the rows that Spark hands over are appended, as its connector does.

    `commit(messages, batchId)`, which the driver calls once for each micro-batch with what its
    tasks returned, is where a transaction for each of them would end: see docs/skipped.md.
    """
