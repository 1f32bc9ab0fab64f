from __future__ import annotations

from interfaces.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.fakes.batches import GZIP, TIMESTAMP, Record, record_batch
from tests.oracle.requests import OFFSETS, UNKNOWN_TOPIC, fetch, list_offsets, produce, store
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun, Topic

ALL = -1
FETCH, LIST_OFFSETS, PRODUCE = 11, 11, 9
EARLIEST, LATEST, LARGEST, EARLIEST_LOCAL = -2, -1, -3, -4


def delete(topic: str, *partitions: tuple[int, int]) -> DeleteRecordsRequest:
    """Of each: partition, and the offset before which records are deleted."""
    rows = [DeleteRecordsPartition(partition_index=i, offset=offset) for i, offset in partitions]
    return DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=rows)], timeout_ms=10_000
    )


def filled(run: ScenarioRun, short: str = "a", **configs: str) -> Topic:
    """Offsets 0-2, 3-4 and 5."""
    topic = run.topic(short, 2, **configs)
    store(
        run,
        topic,
        record_batch(["a", "b", "c"]),
        record_batch(["d", "e"], codec=GZIP),
        record_batch(["f"]),
    )
    return topic


@scenario("delete_records")
def offsets(run: ScenarioRun) -> None:
    topic = filled(run)
    tried = (0, 3, 2, 3, 4, 7, -2, -100, 1 << 40, 5, ALL, ALL, 6, 7)
    for turn, offset in enumerate(tried, 1):
        run.send(f"{turn}: up to {offset}", delete(topic.name, (0, offset)))
    run.send("an empty partition, all", delete(topic.name, (1, ALL)))
    run.send("an empty partition, nothing", delete(topic.name, (1, 0)))
    run.send("an empty partition, beyond its end", delete(topic.name, (1, 1)))
    store(run, topic, record_batch(["g", "h"]))
    run.send("records appended later", delete(topic.name, (0, 7)))


@scenario("delete_records")
def other_requests_after_deletion(run: ScenarioRun) -> None:
    topic = filled(run)
    for offset in (1, 4, ALL):
        run.send(f"up to {offset}", delete(topic.name, (0, offset)))
        for at in (0, 1, 2, 3, 4, 5, 6, 7):
            step = f"up to {offset}: fetch at {at}"
            run.send(step, fetch((topic, 0, at)), version=FETCH)
        for timestamp in (EARLIEST, LATEST, EARLIEST_LOCAL):
            step = f"up to {offset}: list offsets at {timestamp}"
            run.send(step, list_offsets((topic, 0, timestamp)), version=LIST_OFFSETS)
    run.send("produce", produce(topic, record_batch(["g"])), version=PRODUCE)
    run.send("fetch records appended later", fetch((topic, 0, 6)), version=FETCH)


@scenario("delete_records")
def timestamps(run: ScenarioRun) -> None:
    topic = run.topic("a")
    rows: list[Record] = [("k", f"v{at}", [], TIMESTAMP + at) for at in (10, 30, 20)]
    later: list[Record] = [("k", f"v{at}", [], TIMESTAMP + at) for at in (25, 40)]
    store(run, topic, record_batch(rows), record_batch(later, codec=GZIP))
    for offset in (1, 2, 4):
        run.send(f"up to {offset}", delete(topic.name, (0, offset)))
        for after in (0, 10, 11, 20, 21, 30, 31, 40, 41):
            step = f"up to {offset}: after {after} ms"
            search = list_offsets((topic, 0, TIMESTAMP + after))
            run.send(step, search, version=LIST_OFFSETS)
        largest = list_offsets((topic, 0, LARGEST))
        run.send(f"up to {offset}: the largest", largest, version=LIST_OFFSETS)
    run.send("all", delete(topic.name, (0, ALL)))
    run.send("all: any timestamp", list_offsets((topic, 0, 0)), version=LIST_OFFSETS)
    run.send("all: the largest", list_offsets((topic, 0, LARGEST)), version=LIST_OFFSETS)


@scenario("delete_records")
def deleted_largest_timestamp(run: ScenarioRun) -> None:
    topic = run.topic("a")
    for at in (50, 20, 30):
        store(run, topic, record_batch([("k", f"v{at}", [], TIMESTAMP + at)]))
    run.send("the first", delete(topic.name, (0, 1)))
    for after in (0, 20, 21, 31, 50, 51):
        search = list_offsets((topic, 0, TIMESTAMP + after))
        run.send(f"after {after} ms", search, version=LIST_OFFSETS)
    run.send("the largest", list_offsets((topic, 0, LARGEST)), version=LIST_OFFSETS)


@scenario("delete_records")
def policies(run: ScenarioRun) -> None:
    for short, policy in (("a", "compact"), ("b", "compact,delete"), ("c", "delete"), ("d", "")):
        topic = run.topic(short, cleanup_policy=policy)
        rows: list[Record] = [("k", "v", [], TIMESTAMP)]
        store(run, topic, record_batch(rows))
        run.send(f"'{policy}'", delete(topic.name, (0, ALL)))
        run.send(f"'{policy}', beyond the end", delete(topic.name, (0, 9)))
        run.send(f"'{policy}', nothing", delete(topic.name, (0, 0)))


@scenario("delete_records")
def unknown_topics_and_partitions(run: ScenarioRun) -> None:
    topic = filled(run)
    run.send("a partition", delete(topic.name, (7, ALL), (-1, 0), (0, 1), (2, -5)))
    run.send("a topic", delete(UNKNOWN_TOPIC.name, (0, ALL), (1, 7)))
    run.send("an illegal topic", delete("a b", (0, 0)))
    run.send("a topic without a name", delete("", (0, 0)))
    run.send("no partitions", delete(topic.name))
    run.send("no topics", DeleteRecordsRequest(topics=[], timeout_ms=10_000))


@scenario("delete_records")
def internal_topics(run: ScenarioRun) -> None:
    for offset in (ALL, 0, 1 << 40):
        run.send(f"up to {offset}", delete(OFFSETS, (0, offset)))
    run.send("an unknown partition", delete(OFFSETS, (7, ALL)))


@scenario("delete_records")
def several(run: ScenarioRun) -> None:
    first, second = filled(run), filled(run, "b")
    one, other = delete(first.name, (0, 2), (1, 9)), delete(second.name, (5, 0), (0, ALL))
    both = DeleteRecordsRequest(topics=one.topics + other.topics, timeout_ms=10_000)
    run.send("two topics", both)
    run.send("a partition twice", delete(first.name, (0, 3), (0, 4)))
    run.send("twice, the second refused", delete(first.name, (0, 5), (0, 99)))
    run.send("after the refusal", delete(first.name, (0, 0)))
    again = delete(second.name, (0, 0))
    named_twice = DeleteRecordsRequest(
        topics=again.topics + delete(second.name, (1, 0)).topics, timeout_ms=10_000
    )
    run.send("a topic twice", named_twice)
    for timeout_ms in (0, -1):
        request = DeleteRecordsRequest(topics=again.topics, timeout_ms=timeout_ms)
        run.send(f"within {timeout_ms} ms", request)


@scenario("delete_records")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "delete_records", b"")
    run.send_raw("half a body", "delete_records", b"\0\0\0\1\0")
