from __future__ import annotations

from interfaces.kafka.wire.messages.fetch import FetchRequest, ForgottenTopic, ReplicaState
from tests.fakes.batches import GZIP, ZSTD, record_batch
from tests.oracle.requests import UNKNOWN_TOPIC, delete, fetch, store
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun, Topic
from tests.oracle.transactions import LONG_SEGMENT, Producer

READ_COMMITTED = 1
SESSIONS = 7
LEADER_EPOCHS = 9
LAST_FETCHED_EPOCHS = 12


@scenario("fetch")
def batches_from_an_offset(run: ScenarioRun) -> None:
    topic = run.topic("a")
    batches = record_batch(["a"]), record_batch(["b", "c", "d"]), record_batch(["e"], codec=GZIP)
    store(run, topic, *batches)
    for offset in range(6):
        run.send(f"offset {offset}", fetch((topic, 0, offset)))
    run.send("beyond the end", fetch((topic, 0, 6)))
    run.send("negative", fetch((topic, 0, -1)))
    run.send("read committed", fetch((topic, 0, 0), isolation_level=1))
    run.send("an isolation level of 2", fetch((topic, 0, 0), isolation_level=2))


@scenario("fetch")
def transactions(run: ScenarioRun) -> None:
    topic = run.topic("a", segment_ms=LONG_SEGMENT)
    first, second, left_open = (Producer(run, name) for name in ("first", "second", "open"))

    def read(state: str, *offsets: int) -> None:
        for offset in offsets:
            request = fetch((topic, 0, offset), isolation_level=READ_COMMITTED)
            run.send(f"{state}: committed from {offset}", request)

    first.send(topic, "a")
    second.send(topic, "b", "c")
    first.send(topic, "d")
    read("two open", 0, 2)
    first.end(committed=False)  # marker: 4
    read("the older one aborted", 0, 1, 4)
    second.end()  # 5
    first.send(topic, "e")
    left_open.send(topic, "f")
    store(run, topic, record_batch(["g"]))
    first.end(committed=False)  # 9
    read("one open", 0, 4, 5, 6, 7)
    run.send("one open: all from 0", fetch((topic, 0, 0)))
    left_open.end(committed=False)  # 10
    read("none open", 0, 3, 6, 8, 9, 10, 11, 12)
    delete(run, topic, 4)
    read("log start 4", 3, 4)
    unknown = fetch((topic, 5, 0), isolation_level=READ_COMMITTED)
    run.send("an unknown partition, committed", unknown)


@scenario("fetch")
def records_of_an_open_transaction_are_deleted(run: ScenarioRun) -> None:
    topic, producer = run.topic("a", segment_ms=LONG_SEGMENT), Producer(run)
    producer.send(topic, "a")
    producer.send(topic, "b")
    delete(run, topic, 1)
    request = fetch((topic, 0, 1), isolation_level=READ_COMMITTED)
    run.send("open", request)
    delete(run, topic, 2)
    store(run, topic, record_batch(["c"]))
    request = fetch((topic, 0, 2), isolation_level=READ_COMMITTED)
    run.send("open, without records", request)
    producer.end(committed=False)
    run.send("aborted", request)


@scenario("fetch")
def zstd_for_old_clients(run: ScenarioRun) -> None:
    topic = run.topic("a")
    store(run, topic, record_batch(["a", "b"], codec=ZSTD))
    run.send("a batch of zstd", fetch((topic, 0, 0)))


@scenario("fetch")
def limits(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    batch = record_batch(["x" * 200])
    size = len(batch)
    for partition in (0, 1):
        batches = (record_batch(["x" * 200]) for _ in range(4))
        store(run, topic, *batches, partition=partition)
    start = (topic, 0, 0)
    run.send("one byte per partition", fetch(start, partition_max_bytes=1))
    run.send("one byte", fetch(start, max_bytes=1))
    run.send("no bytes per partition", fetch(start, partition_max_bytes=0))
    run.send("no bytes", fetch(start, max_bytes=0))
    run.send("negative", fetch(start, max_bytes=-1, partition_max_bytes=-1))
    run.send("two batches", fetch(start, partition_max_bytes=2 * size))
    run.send("two batches and a half", fetch(start, partition_max_bytes=2 * size + 100))
    run.send("two batches and a half in all", fetch(start, max_bytes=2 * size + 100))
    both = start, (topic, 1, 0)
    run.send("one byte for each of two partitions", fetch(*both, partition_max_bytes=1))
    run.send("five batches for two partitions", fetch(*both, max_bytes=5 * size))


@scenario("fetch")
def unknown_topics_and_partitions(run: ScenarioRun) -> None:
    topic = run.topic("a")
    store(run, topic, record_batch(["a"]))
    run.send("unknown topic", fetch((UNKNOWN_TOPIC, 0, 0)))
    run.send("unknown partition", fetch((topic, 1, 0)))
    run.send("negative partition", fetch((topic, -1, 0)))
    run.send("known and unknown", fetch((topic, 0, 0), (UNKNOWN_TOPIC, 0, 0), (topic, 1, 0)))
    run.send("unknown first", fetch((UNKNOWN_TOPIC, 0, 0), (topic, 0, 0)))
    run.send("no topic", fetch())
    run.send("an illegal name", fetch((Topic("a b", b"\x66" * 16), 0, 0)))
    run.send("an empty name, and no id", fetch((Topic("", bytes(16)), 0, 0)))
    run.send("the end of an empty topic", fetch((run.topic("b"), 0, 0)))


@scenario("fetch", first=LEADER_EPOCHS)
def leader_epochs(run: ScenarioRun) -> None:
    topic = run.topic("a")
    store(run, topic, record_batch(["a"]))
    for epoch in (0, 1, -1, -2):
        run.send(f"epoch {epoch}", fetch((topic, 0, 0), leader_epoch=epoch))
    run.send("of an unknown partition", fetch((topic, 5, 0), leader_epoch=1))


def after(epoch: int, request: FetchRequest) -> FetchRequest:
    """Of a client whose last record has this leader epoch."""
    for topic in request.topics:
        for partition in topic.partitions:
            partition.last_fetched_epoch = epoch
    return request


@scenario("fetch", first=LAST_FETCHED_EPOCHS)
def last_fetched_epochs(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    store(run, topic, record_batch(["a", "b", "c"]), record_batch(["d"]))
    for epoch in (0, 1, -1, -2):
        for offset in (-1, 0, 3, 4, 5):
            request = after(epoch, fetch((topic, 0, offset)))
            run.send(f"epoch {epoch}, offset {offset}", request)
    diverging = (topic, 0, 9)
    run.send("at once", after(0, fetch(diverging, (topic, 1, 0), max_wait_ms=5_000, min_bytes=1)))
    run.send("no bytes", after(0, fetch(diverging, max_bytes=0)))
    run.send("a newer leader epoch", after(0, fetch(diverging, leader_epoch=1)))
    run.send("an unknown partition", after(1, fetch((topic, 5, 0))))
    delete(run, topic, 2)
    for epoch, offset in ((0, 1), (1, 1), (0, 2), (0, 9)):
        request = after(epoch, fetch((topic, 0, offset)))
        run.send(f"log start 2: epoch {epoch}, offset {offset}", request)


@scenario("fetch", first=LAST_FETCHED_EPOCHS)
def last_fetched_epochs_in_a_session(run: ScenarioRun) -> None:
    topic = run.topic("a", 2)
    store(run, topic, record_batch(["a"]))
    opened = run.send("full fetch", after(0, fetch((topic, 0, 1), (topic, 1, 0), session_epoch=0)))
    session = opened.session_id if opened is not None else 0
    steps = fetch(), fetch((topic, 0, 2)), fetch(), fetch((topic, 0, 0)), fetch()
    for epoch, request in enumerate(steps, 1):
        request.session_id, request.session_epoch = session, epoch
        run.send(f"session epoch {epoch}", after(0, request))


@scenario("fetch")
def max_wait_expires(run: ScenarioRun) -> None:
    topic = run.topic("a")
    store(run, topic, record_batch(["a"]))
    run.send("at the end", fetch((topic, 0, 1), max_wait_ms=20, min_bytes=1))
    run.send("too few bytes", fetch((topic, 0, 0), max_wait_ms=20, min_bytes=100_000))
    refused = fetch((topic, 0, 1), (topic, 1, 0), max_wait_ms=100, min_bytes=1)
    run.send("an unknown partition", refused)
    run.send("no topics", fetch(max_wait_ms=100, min_bytes=1))


@scenario("fetch", first=SESSIONS)
def a_session(run: ScenarioRun) -> None:
    topic = run.topic("a", 3)
    store(run, topic, record_batch(["a"]))
    everything = [(topic, index, 0) for index in range(3)]
    full = run.send("full fetch", fetch(*everything, session_epoch=0))
    session = full.session_id if full is not None else 0

    def go_on(step: str, request: FetchRequest, epoch: int) -> None:
        request.session_id, request.session_epoch = session, epoch
        run.send(step, request)

    go_on("nothing changed", fetch(), 1)
    go_on("a new fetch offset", fetch((topic, 0, 1)), 2)
    go_on("nothing new", fetch(), 3)
    store(run, topic, record_batch(["b"]), partition=1)
    go_on("one partition has new records", fetch(), 4)
    forgetting = fetch()
    forgetting.forgotten_topics_data = [
        ForgottenTopic(topic=topic.name, topic_id=topic.topic_id, partitions=[1])
    ]
    go_on("a forgotten partition", forgetting, 5)
    go_on("an unknown partition", fetch((topic, 7, 0)), 6)
    go_on("the next epoch", fetch(), 7)
    go_on("a wrong epoch", fetch(), 5)
    go_on("the right epoch afterwards", fetch(), 8)
    go_on("final epoch", fetch(*everything), -1)
    go_on("after the final epoch", fetch(), 9)


@scenario("fetch", first=SESSIONS)
def invalid_sessions(run: ScenarioRun) -> None:
    topic = run.topic("a")
    store(run, topic, record_batch(["a"]))
    place = (topic, 0, 0)
    run.send("unknown, epoch 1", fetch(place, session_id=99, session_epoch=1))
    run.send("unknown, epoch 0", fetch(place, session_id=99, session_epoch=0))
    run.send("unknown, final epoch", fetch(place, session_id=99, session_epoch=-1))
    run.send("none, epoch 5", fetch(place, session_epoch=5))
    run.send("an empty session", fetch(session_epoch=0))


@scenario("fetch")
def followers(run: ScenarioRun) -> None:
    topic = run.topic("a")
    store(run, topic, record_batch(["a"]))
    for replica in (1, 5, -2):
        request = fetch((topic, 0, 0))
        if run.version < 15:
            request.replica_id = replica
        else:
            request.replica_state = ReplicaState(replica_id=replica, replica_epoch=3)
        run.send(f"replica {replica}", request)


@scenario("fetch")
def a_partition_twice(run: ScenarioRun) -> None:
    topic = run.topic("a")
    store(run, topic, record_batch(["a"]), record_batch(["b"]))
    run.send("at two offsets", fetch((topic, 0, 0), (topic, 0, 1)))


@scenario("fetch", first=12)
def cluster_and_rack_ids(run: ScenarioRun) -> None:
    topic = run.topic("a")
    store(run, topic, record_batch(["a"]))
    run.send("another cluster", fetch((topic, 0, 0), cluster_id="another"))
    run.send("a rack", fetch((topic, 0, 0), rack_id="r1"))


@scenario("fetch")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "fetch", b"")
    run.send_raw("half a body", "fetch", b"\xff\xff\xff\xff\0\0")
