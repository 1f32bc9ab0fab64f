"""A stream from topic to topic whose task 1 stops at a named point, to be killed there."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark import TaskContext

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.sink import StreamWriter
from interfaces.spark.kafka.sink_sending import Sending
from interfaces.spark.kafka.sink_transactions import TransactionalSending
from interfaces.spark.kafka.sources import KafkaSource
from interfaces.spark.registration import register
from interfaces.spark.session import open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import DataSourceStreamWriter
    from pyspark.sql.types import StructType

#: After these requests of the producer.
POINTS = ("init_transactions", "send_offsets_to_transaction", "commit_transaction")


class StoppingSending(TransactionalSending):
    folder: Path
    point: str

    def _call(self, request: Callable[..., Any], *arguments: Any) -> Any:
        response = super()._call(request, *arguments)
        if request.__name__ == self.point:
            (self.folder / "pid.new").write_text(str(os.getpid()), "ascii")
            (self.folder / "pid.new").rename(self.folder / "pid")
            signal.pause()
        return response


class StoppingWriter(StreamWriter):
    def _sending(self, task: TaskContext) -> Sending:
        sending = super()._sending(task)
        if task.partitionId() == 1 and isinstance(sending, TransactionalSending):
            sending.__class__ = StoppingSending
            vars(sending).update(folder=Path(os.environ["FOLDER"]), point=os.environ["POINT"])
        return sending


class StoppingSource(KafkaSource):
    @classmethod
    def name(cls) -> str:
        return "ottla-stopping"

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        return StoppingWriter(KafkaOptions(self.options), schema)


def copy(
    spark: SparkSession, sink: str, servers: str, source: str, topic: str, checkpoint: str
) -> None:
    """A task for each partition of the source."""
    reader = spark.readStream.format("ottla").option("kafka.bootstrap.servers", servers)
    rows = (
        reader.options(subscribe=source, startingOffsets="earliest")
        .load()
        .select("value", "partition")
    )
    writer = rows.writeStream.format(sink).trigger(availableNow=True)
    writer = writer.options(topic=topic, exactlyOnce="true", checkpointLocation=checkpoint)
    query = writer.option("kafka.bootstrap.servers", servers).start()
    assert query.awaitTermination(50), "the query does not end"


def main(*arguments: str) -> None:
    settings = {"spark.driver.memory": "512m", "spark.local.dir": f"{os.environ['FOLDER']}/local"}
    spark = open_session("stopping", "local[2]", list(settings.items()))
    register(spark)
    spark.dataSource.register(StoppingSource)
    copy(spark, StoppingSource.name(), *arguments)
