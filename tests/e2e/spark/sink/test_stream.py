"""`df.writeStream.format("ottla")`: what the next run of a failed query writes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from interfaces.spark.query.failures import cause_of
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import new_topic
from tests.e2e.spark.kafka.topics import read_committed, records, values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Lines:
    """A stream of lines from files to a topic; each file is a micro-batch."""

    def __init__(self, spark: SparkSession, folder: Path, checkpoint: str) -> None:
        self.spark, self.folder, self.checkpoint = spark, folder, checkpoint
        self._time_s = 1_700_000_000
        folder.mkdir()

    def add(self, name: str, *lines: str) -> None:
        hidden = self.folder / f".{name}"  # until it is complete
        hidden.write_text("\n".join(lines) + "\n", "utf-8")
        self._time_s += 10  # Spark reads the oldest file first
        os.utime(hidden, (self._time_s, self._time_s))
        hidden.rename(self.folder / name)

    def run(self, servers: str, topic: str, **options: Any) -> None:
        lines = self.spark.readStream.option("maxFilesPerTrigger", 1).text(str(self.folder))
        writer = lines.coalesce(1).writeStream.format("ottla").trigger(availableNow=True)
        writer = writer.option("kafka.bootstrap.servers", servers).option("topic", topic)
        query = writer.option("checkpointLocation", self.checkpoint).options(**options).start()
        assert query.awaitTermination(50), "the query does not end"

    def forget_batch(self, number: int) -> None:
        """As if the driver had died between the write of the batch and its commit."""
        for name in (f"{number}", f".{number}.crc"):
            (Path(self.checkpoint) / "commits" / name).unlink()


@pytest.fixture
def lines(spark: SparkSession, tmp_path: Path, checkpoint: str) -> Lines:
    return Lines(spark, tmp_path / "lines", checkpoint)


@pytest.mark.long
def test_a_batch_that_is_sent_again_can_be_dropped_by_its_provenance(
    lines: Lines, servers: str, topic: str
) -> None:
    lines.add("0.txt", "a", "b")
    lines.add("1.txt", "c", "d", "e")
    lines.run(servers, topic, recordProvenance="true")
    assert sorted(map(str, values(servers, topic))) == [str(v.encode()) for v in "abcde"]

    lines.forget_batch(1)
    lines.add("2.txt", "f")
    lines.run(servers, topic, recordProvenance="true")

    found = [record for partition in records(servers, topic) for record in partition]
    assert sorted(str(r.value) for r in found) == sorted(str(v.encode()) for v in "abcdecdef")
    once = {dict(record.headers)["ottla.provenance"]: record.value for record in found}
    assert sorted(str(value) for value in once.values()) == [str(v.encode()) for v in "abcdef"]
    batches = sorted(str(place, "ascii").split("/")[1:] for place in once if place)
    assert batches == [
        *(["0", "0", row] for row in "01"),
        *(["1", "0", row] for row in "012"),
        ["2", "0", "0"],
    ]


def test_a_batch_that_is_sent_again_is_committed_exactly_once(
    lines: Lines, servers: str, topic: str
) -> None:
    lines.add("0.txt", "a", "b")
    lines.run(servers, topic, exactlyOnce="true")
    lines.forget_batch(0)
    lines.add("1.txt", "c")
    lines.run(servers, topic, exactlyOnce="true")
    assert sorted(read_committed(servers, topic)) == [b"a", b"b", b"c"]


@pytest.mark.long
def test_a_missing_broker_fails_the_query_and_the_next_run_continues(
    lines: Lines, tmp_path: Path
) -> None:
    with BrokerProcess(tmp_path / "broker", "lmdb") as broker:
        topic = new_topic(broker)
        lines.add("0.txt", "a", "b")
        lines.run(broker.bootstrap, topic)
        broker.kill()

        lines.add("1.txt", "c")
        with pytest.raises(Exception, match=r"interfaces\.spark\.query\.failures") as raised:
            lines.run(broker.bootstrap, topic)
        assert broker.bootstrap in str(cause_of(raised.value))

        broker.start()
        lines.add("2.txt", "d")
        lines.run(broker.bootstrap, topic)
        assert values(broker.bootstrap, topic) == [b"a", b"b", b"c", b"d"]
