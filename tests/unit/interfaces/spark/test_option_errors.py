"""The texts of errors in options and columns, of both data sources. Other tests assert no text."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.kafka.sink_columns import SinkColumns
from interfaces.spark.query.failures import WrongOption
from interfaces.spark.segments.options import SegmentsOptions

pytest.importorskip("pyspark", reason="needs Spark")

HEADERS = "array<struct<key:string,value:string>>"


def batch(given: Mapping[str, str]) -> None:
    from interfaces.spark.kafka.batch import BatchReader

    reader = BatchReader(KafkaOptions({"kafka.bootstrap.servers": "b:1", **given}))
    assert reader.options.for_tasks


def stream(given: Mapping[str, str]) -> None:
    from interfaces.spark.kafka.stream import StreamReader

    StreamReader(KafkaOptions({"kafka.bootstrap.servers": "b:1", "subscribe": "t", **given}))


def folder(given: Mapping[str, str]) -> None:
    SegmentsOptions({"path": "/data", **given})


def sink(given: Mapping[str, str]) -> None:
    from pyspark.sql.types import StringType, StructField, StructType

    from interfaces.spark.kafka.sources import KafkaSource

    options = {"kafka.bootstrap.servers": "b:1", "topic": "t", **given}
    KafkaSource(options).writer(StructType([StructField("value", StringType())]), False)


@pytest.mark.parametrize(
    ("source", "given", "text"),
    [
        # Names
        (batch, {"kafka.bootstrap.servers": ","}, "option kafka.bootstrap.servers is missing"),
        (batch, {"subscribbe": "t"}, "unknown option 'subscribbe' (did you mean subscribe?)"),
        (batch, {"bootstrap.servers": "b"}, "unknown option 'bootstrap.servers' (did you mean kaf"),
        (batch, {"fetchOffset.numRetris": "5"}, "unknown option 'fetchoffset.numretris' (did you"),
        (batch, {"zzz": "x"}, "unknown option 'zzz'"),
        (batch, {"provider": "ottla"}, "CREATE TABLE is not supported"),
        (folder, {"path": " "}, "option path is missing: .load(FOLDER)"),
        (folder, {"path": "s3://bucket"}, "option path: 's3://bucket' is not a local folder"),
        (folder, {"commitOffsetsToGroup": "true"}, "unknown option 'commitoffsetstogroup'"),
        # Topics and partitions
        (batch, {}, "missing option: one of subscribe, subscribePattern, assign"),
        (folder, {"subscribe": "a", "topic": "a"}, "subscribe and topic exclude each other"),
        (folder, {"subscribe": " , "}, "subscribe: no topic in ','"),
        (folder, {"subscribePattern": "(?!x)a"}, "option subscribePattern: RE2, which has no look"),
        (folder, {"assign": "t"}, "assign: 't' is not JSON like"),
        (folder, {"assign": "[]"}, "assign: '[]' is not JSON like"),
        (folder, {"assign": "{}"}, "assign: no partition; expected JSON like"),
        (folder, {"assign": '{"t": 0}'}, "assign: topic 't' needs a list, like"),
        (folder, {"assign": '{"t": [-1]}'}, "assign: -1 of topic 't' is not a partition"),
        (folder, {"assign": '{"t": [true]}'}, "assign: True of topic 't' is not a partition"),
        # Offsets and timestamps
        (folder, {"startingOffsets": "latest"}, "startingOffsets: latest (-1), but a batch cannot"),
        (folder, {"startingOffsets": '{"t": {"0": -1}}'}, "startingOffsets: latest (-1), but a"),
        (folder, {"startingOffsets": '{"t": {"0": -3}}'}, "startingOffsets: -3 of t-0 is not an o"),
        (folder, {"startingOffsets": "first"}, "startingOffsets: 'first' is not earliest, latest"),
        (folder, {"startingOffsets": '{"t": {"0": }'}, "startingOffsets: '{\"t\": {\"0\": }' is n"),
        (folder, {"startingOffsets": '{"t": [1]}'}, "startingOffsets: topic 't' needs an object"),
        (folder, {"startingOffsets": '{"t": {"²": 1}}'}, "startingOffsets: '²' of topic 't' is no"),
        (folder, {"startingOffsets": '{"t": {"0": 1.5}}'}, "startingOffsets: 1.5 of t-0 is not an"),
        (folder, {"startingTimestamp": "1²"}, "startingTimestamp: '1²' is not an integer"),
        (folder, {"startingTimestamp": "-1"}, "startingTimestamp: -1 is less than 0"),
        (folder, {"startingTimestamp": "9" * 19}, "startingTimestamp: 9999999999999999999 is more"),
        (folder, {"startingOffsetsByTimestamp": '{"t": {"0": -1}}'}, "startingOffsetsByTimestamp:"),
        (
            folder,
            {"startingTimestamp": "1", "startingOffsetsByTimestampStrategy": "maybe"},
            "startingOffsetsByTimestampStrategy: 'maybe' is not one of error, latest",
        ),
        (folder, {"endingOffsets": "earliest"}, "endingOffsets: earliest (-2), but a batch cannot"),
        (stream, {"endingTimestamp": "5"}, "endingTimestamp: a stream has no end"),
        # Other values
        (folder, {"failOnDataLoss": "maybe"}, "failOnDataLoss: 'maybe' is not true or false"),
        (batch, {"subscribe": "t", "minPartitions": "0"}, "minPartitions: 0 is less than 1"),
        (batch, {"kafkaConsumer.pollTimeoutMs": "0"}, "kafkaConsumer.pollTimeoutMs: 0 is less tha"),
        (batch, {"fetchOffset.retryIntervalMs": "1.5"}, "fetchOffset.retryIntervalMs: '1.5' is no"),
        (stream, {"maxTriggerDelay": "soon"}, "maxTriggerDelay: 'soon'"),
        (
            stream,
            {"minOffsetsPerTrigger": "5", "maxOffsetsPerTrigger": "4"},
            "minOffsetsPerTrigger is larger than maxOffsetsPerTrigger",
        ),
        (stream, {"commitOffsetsToGroup": "true"}, "commitOffsetsToGroup=true needs option kafka."),
        # Settings of the client
        (batch, {"kafka.auto.offset.reset": "x"}, "option kafka.auto.offset.reset is not supporte"),
        (sink, {"kafka.transactional.id": "x"}, "option kafka.transactional.id is not supported: "),
        (sink, {"kafka.partitioner.class": "x"}, "option kafka.partitioner.class is not supported"),
        (sink, {"exactlyOnce": "true"}, "exactlyOnce=true needs writeStream: "),
        (sink, {"exactlyOnce": "true", "kafka.acks": "1"}, "exactlyOnce=true needs kafka.acks=all"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_one_line(source: object, given: dict[str, str], text: str) -> None:
    assert callable(source)
    with pytest.raises(WrongOption) as wrong:
        source(given)
    assert str(wrong.value).startswith(text)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    ("types", "topic", "use_timestamp", "text"),
    [
        ({"id": "bigint", "key": "int"}, "t", False, "the column value is missing; the columns ar"),
        ({"value": "string"}, None, False, "no topic: set option topic, or add a column topic"),
        ({"value": "string"}, "t", True, "useTimestamp=true needs a column timestamp"),
        ({"value": "int"}, "t", False, "the column value is int, expected string or binary"),
        ({"value": "string", "key": "int"}, "t", False, "the column key is int, expected string o"),
        ({"value": "string", "topic": "int"}, None, False, "the column topic is int, expected str"),
        ({"value": "string", "timestamp": "date"}, "t", True, "the column timestamp is date, expe"),
        ({"value": "string", "headers": HEADERS}, "t", False, "the column headers is array<struct"),
        ({"value": "string", "partition": "bigint"}, "t", False, "the column partition is bigint"),
    ],
)  # fmt: skip
def test_a_wrong_column_is_one_line(
    types: dict[str, str], topic: str | None, use_timestamp: bool, text: str
) -> None:
    with pytest.raises(WrongOption) as wrong:
        SinkColumns.of(types, topic, use_timestamp)
    assert str(wrong.value).startswith(text)


def test_unsupported_uses_of_a_data_source_are_refused() -> None:
    from pyspark.sql.types import StringType, StructField, StructType

    from interfaces.spark.kafka.sources import KafkaSource
    from interfaces.spark.segments.sources import SegmentsSource

    stored, topics = (
        SegmentsSource({"path": "/data"}),
        KafkaSource({"kafka.bootstrap.servers": "b"}),
    )
    wrong = StructType([StructField("colour", StringType())])
    for call in (
        lambda: stored.writer(StructType([]), False),
        lambda: stored.streamWriter(StructType([]), False),
        lambda: stored.streamReader(StructType([])),
        lambda: stored.reader(wrong),
        lambda: topics.reader(wrong),
        lambda: topics.writer(StructType([]), True),
    ):
        with pytest.raises(WrongOption):
            call()
