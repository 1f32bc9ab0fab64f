from __future__ import annotations

from tests.fakes.batches import GZIP, TIMESTAMP, Record, record_batch
from tests.oracle.requests import UNKNOWN_TOPIC, list_offsets, store
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun, Topic
from tests.oracle.transactions import LONG_SEGMENT, Producer

SPECIAL = (-1, -2, -3, -4, -5, -6, -7, -100)
ISOLATION_LEVELS = 2
LEADER_EPOCHS = 4


@scenario("list_offsets")
def special_timestamps(run: ScenarioRun) -> None:
    empty, full = run.topic("empty"), run.topic("full")
    times: list[Record] = [("k", f"v{at}", [], TIMESTAMP + at) for at in (0, 20, 10)]
    store(run, full, record_batch(["a"]), record_batch(times), record_batch(["z"]))
    for timestamp in SPECIAL:
        run.send(f"{timestamp} of an empty partition", list_offsets((empty, 0, timestamp)))
        run.send(f"{timestamp}", list_offsets((full, 0, timestamp)))
        if run.version >= ISOLATION_LEVELS:
            committed = list_offsets((full, 0, timestamp), isolation_level=1)
            run.send(f"{timestamp}, read committed", committed)


@scenario("list_offsets")
def timestamps(run: ScenarioRun) -> None:
    topic = run.topic("a")
    rows: list[Record] = [("k", f"v{at}", [], TIMESTAMP + at) for at in (5, 3, 10)]
    later: list[Record] = [("k", f"v{at}", [], TIMESTAMP + at) for at in (20, 15)]
    store(run, topic, record_batch(rows), record_batch(later, codec=GZIP))
    for after in (-10, 0, 3, 4, 5, 6, 10, 11, 15, 16, 20, 21):
        run.send(f"after {after} ms", list_offsets((topic, 0, TIMESTAMP + after)))
    run.send("zero", list_offsets((topic, 0, 0)))
    run.send("the largest timestamp value", list_offsets((topic, 0, (1 << 63) - 1)))


@scenario("list_offsets", first=ISOLATION_LEVELS)
def transactions(run: ScenarioRun) -> None:
    topic, ended, left_open = (
        run.topic("a", segment_ms=LONG_SEGMENT),
        Producer(run, "ended"),
        Producer(run, "open"),
    )
    ended.send(topic, ("k", "a", [], TIMESTAMP + 10))
    left_open.send(topic, ("k", "b", [], TIMESTAMP + 20))

    def find(state: str) -> None:
        for timestamp in (-1, -2, -3, *(TIMESTAMP + after for after in (0, 10, 11, 20, 21, 30))):
            name = timestamp if timestamp < 0 else f"after {timestamp - TIMESTAMP} ms"
            request = list_offsets((topic, 0, timestamp), isolation_level=1)
            run.send(f"{state}: {name}", request)

    find("two open")
    ended.end()
    store(run, topic, record_batch([("k", "c", [], TIMESTAMP + 30)]))
    find("one open")
    left_open.end(committed=False)
    find("none open")


@scenario("list_offsets")
def wrong_timestamps_in_headers(run: ScenarioRun) -> None:
    topic = run.topic("a")
    claims = TIMESTAMP + 100
    store(
        run,
        topic,
        record_batch(["a"], max_timestamp=claims),
        record_batch(["b"], max_timestamp=claims, codec=GZIP),
        record_batch([("k", "c", [], TIMESTAMP + 60)]),
    )
    for after in (0, 1, 50, 60, 61, 100):
        run.send(f"after {after} ms", list_offsets((topic, 0, TIMESTAMP + after)))
    run.send("the largest", list_offsets((topic, 0, -3)))
    early = run.topic("b")
    store(
        run,
        early,
        record_batch([("k", "d", [], TIMESTAMP + 60)], max_timestamp=TIMESTAMP),
        record_batch([("k", "e", [], TIMESTAMP + 70)]),
        record_batch([("k", "f", [], TIMESTAMP + 90)], max_timestamp=TIMESTAMP, codec=GZIP),
    )
    for after in (0, 30, 60, 61, 70, 71, 90, 91):
        run.send(
            f"claimed too early, after {after} ms", list_offsets((early, 0, TIMESTAMP + after))
        )
    run.send("claimed too early, the largest", list_offsets((early, 0, -3)))


@scenario("list_offsets")
def log_append_time(run: ScenarioRun) -> None:
    topic = run.topic("a", message_timestamp_type="LogAppendTime")
    store(run, topic, record_batch(["a", "b", "c"]))
    run.send("the largest", list_offsets((topic, 0, -3)))
    run.send("an earlier timestamp", list_offsets((topic, 0, TIMESTAMP)))


@scenario("list_offsets")
def unknown_topics_and_partitions(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    run.send("unknown topic", list_offsets((UNKNOWN_TOPIC, 0, -1)))
    run.send("unknown partition", list_offsets((topic, 2, -1)))
    run.send("negative partition", list_offsets((topic, -1, -1)))
    run.send(
        "known and unknown", list_offsets((topic, 0, -1), (UNKNOWN_TOPIC, 0, -1), (topic, 2, -2))
    )
    run.send("no topic", list_offsets())
    run.send("an illegal name", list_offsets((Topic("a b", bytes(16)), 0, -1)))
    run.send("an empty name", list_offsets((Topic("", bytes(16)), 0, -1)))
    run.send("a partition twice", list_offsets((topic, 0, -1), (topic, 0, -2), (topic, 1, -1)))


@scenario("list_offsets", first=LEADER_EPOCHS)
def leader_epochs(run: ScenarioRun) -> None:
    topic = run.topic("a")
    for epoch in (0, 1, -1, -2):
        run.send(f"epoch {epoch}", list_offsets((topic, 0, -1), leader_epoch=epoch))


@scenario("list_offsets")
def followers(run: ScenarioRun) -> None:
    topic = run.topic("a")
    store(run, topic, record_batch(["a"]))
    for replica in (1, 5, -2, -3):
        run.send(f"replica {replica}", list_offsets((topic, 0, -1), replica_id=replica))


@scenario("list_offsets")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "list_offsets", b"")
    run.send_raw("half a body", "list_offsets", b"\xff\xff\xff\xff\0")
