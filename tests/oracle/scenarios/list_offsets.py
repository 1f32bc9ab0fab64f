from __future__ import annotations

from tests.fakes.batches import GZIP, TIMESTAMP, Record, record_batch
from tests.oracle.requests import NOBODY, list_offsets, store
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller, Topic

SPECIAL = (-1, -2, -3, -4, -5, -6, -7, -100)
ISOLATION_LEVELS = 2
LEADER_EPOCHS = 4


@scenario("list_offsets")
def special_timestamps(tell: Teller) -> None:
    empty, full = tell.topic("empty"), tell.topic("full")
    times: list[Record] = [("k", f"v{at}", [], TIMESTAMP + at) for at in (0, 20, 10)]
    store(tell, full, record_batch(["a"]), record_batch(times), record_batch(["z"]))
    for timestamp in SPECIAL:
        tell.ask(f"{timestamp} of an empty one", list_offsets((empty, 0, timestamp)))
        tell.ask(f"{timestamp}", list_offsets((full, 0, timestamp)))
        if tell.version >= ISOLATION_LEVELS:
            committed = list_offsets((full, 0, timestamp), isolation_level=1)
            tell.ask(f"{timestamp}, read committed", committed)


@scenario("list_offsets")
def moments(tell: Teller) -> None:
    topic = tell.topic("a")
    rows: list[Record] = [("k", f"v{at}", [], TIMESTAMP + at) for at in (5, 3, 10)]
    later: list[Record] = [("k", f"v{at}", [], TIMESTAMP + at) for at in (20, 15)]
    store(tell, topic, record_batch(rows), record_batch(later, codec=GZIP))
    for after in (-10, 0, 3, 4, 5, 6, 10, 11, 15, 16, 20, 21):
        tell.ask(f"after {after} ms", list_offsets((topic, 0, TIMESTAMP + after)))
    tell.ask("zero", list_offsets((topic, 0, 0)))
    tell.ask("the end of time", list_offsets((topic, 0, (1 << 63) - 1)))


@scenario("list_offsets")
def moments_that_headers_lie_about(tell: Teller) -> None:
    topic = tell.topic("a")
    claims = TIMESTAMP + 100
    store(
        tell,
        topic,
        record_batch(["a"], max_timestamp=claims),
        record_batch(["b"], max_timestamp=claims, codec=GZIP),
        record_batch([("k", "c", [], TIMESTAMP + 60)]),
    )
    for after in (0, 1, 50, 60, 61, 100):
        tell.ask(f"after {after} ms", list_offsets((topic, 0, TIMESTAMP + after)))
    tell.ask("the largest", list_offsets((topic, 0, -3)))
    early = tell.topic("b")
    store(
        tell,
        early,
        record_batch([("k", "d", [], TIMESTAMP + 60)], max_timestamp=TIMESTAMP),
        record_batch([("k", "e", [], TIMESTAMP + 70)]),
        record_batch([("k", "f", [], TIMESTAMP + 90)], max_timestamp=TIMESTAMP, codec=GZIP),
    )
    for after in (0, 30, 60, 61, 70, 71, 90, 91):
        tell.ask(
            f"claimed too early, after {after} ms", list_offsets((early, 0, TIMESTAMP + after))
        )
    tell.ask("claimed too early, the largest", list_offsets((early, 0, -3)))


@scenario("list_offsets")
def moments_of_the_broker(tell: Teller) -> None:
    topic = tell.topic("a", message_timestamp_type="LogAppendTime")
    store(tell, topic, record_batch(["a", "b", "c"]))
    tell.ask("the largest", list_offsets((topic, 0, -3)))
    tell.ask("one before", list_offsets((topic, 0, TIMESTAMP)))


@scenario("list_offsets")
def places_that_there_are_not(tell: Teller) -> None:
    topic = tell.topic("a", 2)
    tell.ask("unknown topic", list_offsets((NOBODY, 0, -1)))
    tell.ask("unknown partition", list_offsets((topic, 2, -1)))
    tell.ask("negative partition", list_offsets((topic, -1, -1)))
    tell.ask("known and unknown", list_offsets((topic, 0, -1), (NOBODY, 0, -1), (topic, 2, -2)))
    tell.ask("no topic", list_offsets())
    tell.ask("an illegal name", list_offsets((Topic("a b", bytes(16)), 0, -1)))
    tell.ask("an empty name", list_offsets((Topic("", bytes(16)), 0, -1)))
    tell.ask("a partition twice", list_offsets((topic, 0, -1), (topic, 0, -2), (topic, 1, -1)))


@scenario("list_offsets", first=LEADER_EPOCHS)
def leader_epochs(tell: Teller) -> None:
    topic = tell.topic("a")
    for epoch in (0, 1, -1, -2):
        tell.ask(f"epoch {epoch}", list_offsets((topic, 0, -1), leader_epoch=epoch))


@scenario("list_offsets")
def followers(tell: Teller) -> None:
    topic = tell.topic("a")
    store(tell, topic, record_batch(["a"]))
    for replica in (1, 5, -2, -3):
        tell.ask(f"replica {replica}", list_offsets((topic, 0, -1), replica_id=replica))


@scenario("list_offsets")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "list_offsets", b"")
    tell.ask_raw("half a body", "list_offsets", b"\xff\xff\xff\xff\0")
