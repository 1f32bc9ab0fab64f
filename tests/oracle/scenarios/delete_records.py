from __future__ import annotations

from interfaces.kafka.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.fakes.batches import GZIP, TIMESTAMP, Record, record_batch
from tests.oracle.requests import NOBODY, fetch, list_offsets, produce, store
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller, Topic

ALL = -1
FETCH, LIST_OFFSETS, PRODUCE = 11, 11, 9
EARLIEST, LATEST, LARGEST, EARLIEST_LOCAL = -2, -1, -3, -4


def delete(topic: str, *partitions: tuple[int, int]) -> DeleteRecordsRequest:
    """Of each: partition, and the offset before which records go."""
    wanted = [DeleteRecordsPartition(partition_index=i, offset=offset) for i, offset in partitions]
    return DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=wanted)], timeout_ms=10_000
    )


def filled(tell: Teller, short: str = "a", **configs: str) -> Topic:
    """Offsets 0-2, 3-4 and 5."""
    topic = tell.topic(short, 2, **configs)
    store(
        tell,
        topic,
        record_batch(["a", "b", "c"]),
        record_batch(["d", "e"], codec=GZIP),
        record_batch(["f"]),
    )
    return topic


@scenario("delete_records")
def offsets(tell: Teller) -> None:
    topic = filled(tell)
    tried = (0, 3, 2, 3, 4, 7, -2, -100, 1 << 40, 5, ALL, ALL, 6, 7)
    for turn, offset in enumerate(tried, 1):
        tell.ask(f"{turn}: up to {offset}", delete(topic.name, (0, offset)))
    tell.ask("an empty one, all", delete(topic.name, (1, ALL)))
    tell.ask("an empty one, nothing", delete(topic.name, (1, 0)))
    tell.ask("an empty one, more", delete(topic.name, (1, 1)))
    store(tell, topic, record_batch(["g", "h"]))
    tell.ask("what came after", delete(topic.name, (0, 7)))


@scenario("delete_records")
def what_others_see(tell: Teller) -> None:
    topic = filled(tell)
    for offset in (1, 4, ALL):
        tell.ask(f"up to {offset}", delete(topic.name, (0, offset)))
        for at in (0, 1, 2, 3, 4, 5, 6, 7):
            step = f"up to {offset}: fetch at {at}"
            tell.ask(step, fetch((topic, 0, at)), version=FETCH)
        for timestamp in (EARLIEST, LATEST, EARLIEST_LOCAL):
            step = f"up to {offset}: list offsets at {timestamp}"
            tell.ask(step, list_offsets((topic, 0, timestamp)), version=LIST_OFFSETS)
    tell.ask("produce", produce(topic, record_batch(["g"])), version=PRODUCE)
    tell.ask("fetch what came after", fetch((topic, 0, 6)), version=FETCH)


@scenario("delete_records")
def moments(tell: Teller) -> None:
    topic = tell.topic("a")
    rows: list[Record] = [("k", f"v{at}", [], TIMESTAMP + at) for at in (10, 30, 20)]
    later: list[Record] = [("k", f"v{at}", [], TIMESTAMP + at) for at in (25, 40)]
    store(tell, topic, record_batch(rows), record_batch(later, codec=GZIP))
    for offset in (1, 2, 4):
        tell.ask(f"up to {offset}", delete(topic.name, (0, offset)))
        for after in (0, 10, 11, 20, 21, 30, 31, 40, 41):
            step = f"up to {offset}: after {after} ms"
            asked = list_offsets((topic, 0, TIMESTAMP + after))
            tell.ask(step, asked, version=LIST_OFFSETS)
        largest = list_offsets((topic, 0, LARGEST))
        tell.ask(f"up to {offset}: the largest", largest, version=LIST_OFFSETS)
    tell.ask("all", delete(topic.name, (0, ALL)))
    tell.ask("all: any moment", list_offsets((topic, 0, 0)), version=LIST_OFFSETS)
    tell.ask("all: the largest", list_offsets((topic, 0, LARGEST)), version=LIST_OFFSETS)


@scenario("delete_records")
def the_largest_is_deleted(tell: Teller) -> None:
    topic = tell.topic("a")
    for at in (50, 20, 30):
        store(tell, topic, record_batch([("k", f"v{at}", [], TIMESTAMP + at)]))
    tell.ask("the first", delete(topic.name, (0, 1)))
    for after in (0, 20, 21, 31, 50, 51):
        asked = list_offsets((topic, 0, TIMESTAMP + after))
        tell.ask(f"after {after} ms", asked, version=LIST_OFFSETS)
    tell.ask("the largest", list_offsets((topic, 0, LARGEST)), version=LIST_OFFSETS)


@scenario("delete_records")
def policies(tell: Teller) -> None:
    for short, policy in (("a", "compact"), ("b", "compact,delete"), ("c", "delete"), ("d", "")):
        topic = tell.topic(short, cleanup_policy=policy)
        rows: list[Record] = [("k", "v", [], TIMESTAMP)]
        store(tell, topic, record_batch(rows))
        tell.ask(f"'{policy}'", delete(topic.name, (0, ALL)))
        tell.ask(f"'{policy}', beyond the end", delete(topic.name, (0, 9)))
        tell.ask(f"'{policy}', nothing", delete(topic.name, (0, 0)))


@scenario("delete_records")
def places_that_there_are_not(tell: Teller) -> None:
    topic = filled(tell)
    tell.ask("a partition", delete(topic.name, (7, ALL), (-1, 0), (0, 1), (2, -5)))
    tell.ask("a topic", delete(NOBODY.name, (0, ALL), (1, 7)))
    tell.ask("an illegal topic", delete("a b", (0, 0)))
    tell.ask("a topic without a name", delete("", (0, 0)))
    tell.ask("no partitions", delete(topic.name))
    tell.ask("no topics", DeleteRecordsRequest(topics=[], timeout_ms=10_000))


@scenario("delete_records")
def several(tell: Teller) -> None:
    first, second = filled(tell), filled(tell, "b")
    one, other = delete(first.name, (0, 2), (1, 9)), delete(second.name, (5, 0), (0, ALL))
    both = DeleteRecordsRequest(topics=one.topics + other.topics, timeout_ms=10_000)
    tell.ask("two topics", both)
    tell.ask("a partition twice", delete(first.name, (0, 3), (0, 4)))
    tell.ask("twice, the second refused", delete(first.name, (0, 5), (0, 99)))
    tell.ask("what came of it", delete(first.name, (0, 0)))
    again = delete(second.name, (0, 0))
    named_twice = DeleteRecordsRequest(
        topics=again.topics + delete(second.name, (1, 0)).topics, timeout_ms=10_000
    )
    tell.ask("a topic twice", named_twice)
    for timeout_ms in (0, -1):
        request = DeleteRecordsRequest(topics=again.topics, timeout_ms=timeout_ms)
        tell.ask(f"within {timeout_ms} ms", request)


@scenario("delete_records")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "delete_records", b"")
    tell.ask_raw("half a body", "delete_records", b"\0\0\0\1\0")
