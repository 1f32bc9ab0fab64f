"""The offsets of a stream's micro-batches, without a JVM."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import TopicPartition

from interfaces.spark.query.failures import JobFailed
from tests.e2e.conftest import unused_topic_name
from tests.e2e.spark.kafka.topics import committed, create, delete, fill, grow, options_of, trim

pytest.importorskip("pyspark", reason="needs Spark")


def stream(servers: str, **options: str) -> Any:
    from interfaces.spark.kafka.stream import StreamReader

    return StreamReader(options_of(servers, **options))


def read_all() -> Any:
    from pyspark.sql.streaming.datasource import ReadAllAvailable

    return ReadAllAvailable()


def values(reader: Any, start: Any, end: Any) -> list[bytes]:
    batches = [batch for part in reader.partitions(start, end) for batch in reader.read(part)]
    return [value for batch in batches for value in batch["value"].to_pylist()]


def test_a_stream_starts_at_latest(servers: str, topic: str) -> None:
    fill(servers, topic, [b"old"])
    reader = stream(servers, subscribe=topic)
    start = reader.initialOffset()
    assert start == {topic: {"0": 1, "1": 0}}
    assert reader.latestOffset(start, read_all()) == start
    fill(servers, topic, [b"new"])
    end = reader.latestOffset(start, read_all())
    assert values(reader, start, end) == [b"new"]
    assert reader.reportLatestOffset() == end
    assert reader.partitions(end, end) == []


def test_max_offsets_limit_a_micro_batch_unless_all_is_requested(servers: str, topic: str) -> None:
    from pyspark.sql.streaming.datasource import ReadMaxRows

    fill(servers, topic, [{"value": b"v", "partition": n % 4 // 3} for n in range(40)])
    reader = stream(servers, subscribe=topic, startingOffsets="earliest", maxOffsetsPerTrigger="8")
    start = reader.initialOffset()
    assert reader.getDefaultReadLimit() == ReadMaxRows(8)
    assert reader.latestOffset(start, ReadMaxRows(8)) == {topic: {"0": 6, "1": 2}}
    assert reader.latestOffset(start, read_all()) == {topic: {"0": 30, "1": 10}}


def test_min_offsets_delay_a_micro_batch_but_not_with_available_now(
    servers: str, topic: str
) -> None:
    options = {"subscribe": topic, "startingOffsets": "earliest", "minOffsetsPerTrigger": "10"}
    reader = stream(servers, **options)
    fill(servers, topic, [b"v"] * 3)
    limit, start = reader.getDefaultReadLimit(), reader.initialOffset()
    first = reader.latestOffset(start, limit)
    assert first == {topic: {"0": 3, "1": 0}}  # the first micro-batch waits for nothing
    fill(servers, topic, [b"v"] * 3)
    assert reader.latestOffset(first, limit) == first
    fill(servers, topic, [b"v"] * 7)
    assert reader.latestOffset(first, limit) == {topic: {"0": 13, "1": 0}}

    run = stream(servers, **options)
    run.prepareForTriggerAvailableNow()
    fill(servers, topic, [b"later"])
    end = run.latestOffset(first, limit)
    assert end == {topic: {"0": 13, "1": 0}}
    assert run.latestOffset(end, limit) == end
    without_delay = stream(servers, **options, maxTriggerDelay="0ms")
    end = without_delay.latestOffset(end, limit)
    assert without_delay.latestOffset(end, limit) == {topic: {"0": 14, "1": 0}}


def test_new_partitions_and_topics_are_read_from_their_start(servers: str) -> None:
    name = unused_topic_name()
    create(servers, f"{name}-a")
    reader = stream(servers, subscribePattern=f"{name}-.*")
    start = reader.initialOffset()
    grow(servers, f"{name}-a", 2)
    create(servers, f"{name}-b")
    fill(servers, f"{name}-a", [{"value": b"grown", "partition": 1}])
    fill(servers, f"{name}-b", [b"new"])
    end = reader.latestOffset(start, read_all())
    assert end == {f"{name}-a": {"0": 0, "1": 1}, f"{name}-b": {"0": 1}}
    assert values(reader, start, end) == [b"grown", b"new"]

    trim(servers, f"{name}-b", 1)
    with pytest.raises(JobFailed, match=rf"^{name}-b-0 "):
        reader.partitions(start, end)


def test_a_deleted_topic_is_lost_data_or_skipped(servers: str) -> None:
    topics = [unused_topic_name(), unused_topic_name()]
    for topic in topics:
        create(servers, topic)
    start = {topic: {"0": 0} for topic in topics}
    delete(servers, topics[1])
    options = {"subscribe": ",".join(topics)}
    with pytest.raises(JobFailed, match=rf"^{topics[1]}-0 "):
        stream(servers, **options).latestOffset(start, read_all())
    lenient = stream(servers, **options, failOnDataLoss="false")
    end = lenient.latestOffset(start, read_all())
    assert end == start
    assert lenient.partitions(start, end) == []


def test_a_topic_created_again_is_lost_data_or_read_from_its_start(servers: str) -> None:
    topic = unused_topic_name()
    create(servers, topic)
    fill(servers, topic, [b"old"] * 3)
    strict, lenient = (
        stream(servers, subscribe=topic, failOnDataLoss=fails) for fails in ("true", "false")
    )
    start = {topic: {"0": 3}}
    for reader in (strict, lenient):
        reader.initialOffset()
    delete(servers, topic)
    create(servers, topic)
    fill(servers, topic, [b"new"] * 4)  # beyond the old end: only the topic id differs
    with pytest.raises(JobFailed, match=topic):
        strict.latestOffset(start, read_all())

    again = lenient.latestOffset(start, read_all())
    assert again == {topic: {"0": 0}}
    assert lenient.partitions(start, again) == []
    end = lenient.latestOffset(again, read_all())
    assert values(lenient, again, end) == [b"new"] * 4


def test_offsets_are_committed_to_a_group(servers: str, topic: str) -> None:
    group = unused_topic_name()
    commits = {"subscribe": topic, "commitOffsetsToGroup": "true"}
    reader = stream(servers, **commits, kafka__group__id=group)
    fill(servers, topic, [b"v"] * 5)
    reader.commit({topic: {"0": 5, "1": 0}})
    assert committed(servers, group, TopicPartition(topic, 0)) == 5
    stream(servers, subscribe=topic).commit({topic: {"0": 3, "1": 0}})
    assert committed(servers, group, TopicPartition(topic, 0)) == 5


def test_a_checkpoint_of_another_source_is_refused(servers: str, topic: str) -> None:
    with pytest.raises(JobFailed, match="checkpoint"):
        stream(servers, subscribe=topic).latestOffset({"index": 5}, read_all())
