from __future__ import annotations

from interfaces.kafka.wire.messages.fetch import FetchRequest, ForgottenTopic, ReplicaState
from tests.fakes.batches import GZIP, ZSTD, record_batch
from tests.oracle.requests import NOBODY, fetch, store
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller, Topic

SESSIONS = 7
LEADER_EPOCHS = 9


@scenario("fetch")
def batches_from_an_offset(tell: Teller) -> None:
    topic = tell.topic("a")
    batches = record_batch(["a"]), record_batch(["b", "c", "d"]), record_batch(["e"], codec=GZIP)
    store(tell, topic, *batches)
    for offset in range(6):
        tell.ask(f"offset {offset}", fetch((topic, 0, offset)))
    tell.ask("beyond the end", fetch((topic, 0, 6)))
    tell.ask("negative", fetch((topic, 0, -1)))
    tell.ask("read committed", fetch((topic, 0, 0), isolation_level=1))
    tell.ask("an isolation level of 2", fetch((topic, 0, 0), isolation_level=2))


@scenario("fetch")
def zstd_for_old_clients(tell: Teller) -> None:
    topic = tell.topic("a")
    store(tell, topic, record_batch(["a", "b"], codec=ZSTD))
    tell.ask("a batch of zstd", fetch((topic, 0, 0)))


@scenario("fetch")
def limits(tell: Teller) -> None:
    topic = tell.topic("a", 2)
    batch = record_batch(["x" * 200])
    size = len(batch)
    for partition in (0, 1):
        batches = (record_batch(["x" * 200]) for _ in range(4))
        store(tell, topic, *batches, partition=partition)
    start = (topic, 0, 0)
    tell.ask("a byte a partition", fetch(start, partition_max_bytes=1))
    tell.ask("a byte", fetch(start, max_bytes=1))
    tell.ask("none a partition", fetch(start, partition_max_bytes=0))
    tell.ask("none", fetch(start, max_bytes=0))
    tell.ask("negative", fetch(start, max_bytes=-1, partition_max_bytes=-1))
    tell.ask("two batches", fetch(start, partition_max_bytes=2 * size))
    tell.ask("two batches and a half", fetch(start, partition_max_bytes=2 * size + 100))
    tell.ask("two batches and a half in all", fetch(start, max_bytes=2 * size + 100))
    both = start, (topic, 1, 0)
    tell.ask("a byte for each of two", fetch(*both, partition_max_bytes=1))
    tell.ask("five batches for two", fetch(*both, max_bytes=5 * size))


@scenario("fetch")
def places_that_there_are_not(tell: Teller) -> None:
    topic = tell.topic("a")
    store(tell, topic, record_batch(["a"]))
    tell.ask("unknown topic", fetch((NOBODY, 0, 0)))
    tell.ask("unknown partition", fetch((topic, 1, 0)))
    tell.ask("negative partition", fetch((topic, -1, 0)))
    tell.ask("known and unknown", fetch((topic, 0, 0), (NOBODY, 0, 0), (topic, 1, 0)))
    tell.ask("unknown first", fetch((NOBODY, 0, 0), (topic, 0, 0)))
    tell.ask("no topic", fetch())
    tell.ask("an illegal name", fetch((Topic("a b", b"\x66" * 16), 0, 0)))
    tell.ask("an empty name, and no id", fetch((Topic("", bytes(16)), 0, 0)))
    tell.ask("an empty topic's end", fetch((tell.topic("b"), 0, 0)))


@scenario("fetch", first=LEADER_EPOCHS)
def leader_epochs(tell: Teller) -> None:
    topic = tell.topic("a")
    store(tell, topic, record_batch(["a"]))
    for epoch in (0, 1, -1, -2):
        tell.ask(f"epoch {epoch}", fetch((topic, 0, 0), leader_epoch=epoch))
    tell.ask("of an unknown partition", fetch((topic, 5, 0), leader_epoch=1))
    if tell.version >= 12:
        for last in (0, 1):
            request = fetch((topic, 0, 1))
            request.topics[0].partitions[0].last_fetched_epoch = last
            tell.ask(f"last fetched epoch {last}", request)


@scenario("fetch")
def waiting_in_vain(tell: Teller) -> None:
    topic = tell.topic("a")
    store(tell, topic, record_batch(["a"]))
    tell.ask("at the end", fetch((topic, 0, 1), max_wait_ms=20, min_bytes=1))
    tell.ask("not enough", fetch((topic, 0, 0), max_wait_ms=20, min_bytes=100_000))
    refused = fetch((topic, 0, 1), (topic, 1, 0), max_wait_ms=100, min_bytes=1)
    tell.ask("a partition that there is not", refused)
    tell.ask("no topics do not wait", fetch(max_wait_ms=100, min_bytes=1))


@scenario("fetch", first=SESSIONS)
def a_session(tell: Teller) -> None:
    topic = tell.topic("a", 3)
    store(tell, topic, record_batch(["a"]))
    everything = [(topic, index, 0) for index in range(3)]
    begun = tell.ask("begin", fetch(*everything, session_epoch=0))
    session = begun.session_id if begun is not None else 0

    def go_on(step: str, request: FetchRequest, epoch: int) -> None:
        request.session_id, request.session_epoch = session, epoch
        tell.ask(step, request)

    go_on("all that is new", fetch(), 1)
    go_on("an offset moves", fetch((topic, 0, 1)), 2)
    go_on("nothing is new", fetch(), 3)
    store(tell, topic, record_batch(["b"]), partition=1)
    go_on("one partition has more", fetch(), 4)
    forgetting = fetch()
    forgetting.forgotten_topics_data = [
        ForgottenTopic(topic=topic.name, topic_id=topic.topic_id, partitions=[1])
    ]
    go_on("one is forgotten", forgetting, 5)
    go_on("a partition that there is not", fetch((topic, 7, 0)), 6)
    go_on("and once more", fetch(), 7)
    go_on("a wrong epoch", fetch(), 5)
    go_on("the right one after that", fetch(), 8)
    go_on("the end of it", fetch(*everything), -1)
    go_on("after the end", fetch(), 9)


@scenario("fetch", first=SESSIONS)
def sessions_that_there_are_not(tell: Teller) -> None:
    topic = tell.topic("a")
    store(tell, topic, record_batch(["a"]))
    wanted = (topic, 0, 0)
    tell.ask("unknown, epoch 1", fetch(wanted, session_id=99, session_epoch=1))
    tell.ask("unknown, epoch 0", fetch(wanted, session_id=99, session_epoch=0))
    tell.ask("unknown, final epoch", fetch(wanted, session_id=99, session_epoch=-1))
    tell.ask("none, epoch 5", fetch(wanted, session_epoch=5))
    tell.ask("a session of nothing", fetch(session_epoch=0))


@scenario("fetch")
def followers(tell: Teller) -> None:
    topic = tell.topic("a")
    store(tell, topic, record_batch(["a"]))
    for replica in (1, 5, -2):
        request = fetch((topic, 0, 0))
        if tell.version < 15:
            request.replica_id = replica
        else:
            request.replica_state = ReplicaState(replica_id=replica, replica_epoch=3)
        tell.ask(f"replica {replica}", request)


@scenario("fetch")
def a_partition_twice(tell: Teller) -> None:
    topic = tell.topic("a")
    store(tell, topic, record_batch(["a"]), record_batch(["b"]))
    tell.ask("at two offsets", fetch((topic, 0, 0), (topic, 0, 1)))


@scenario("fetch", first=12)
def names_of_clusters_and_racks(tell: Teller) -> None:
    topic = tell.topic("a")
    store(tell, topic, record_batch(["a"]))
    tell.ask("another cluster", fetch((topic, 0, 0), cluster_id="another"))
    tell.ask("a rack", fetch((topic, 0, 0), rack_id="r1"))


@scenario("fetch")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "fetch", b"")
    tell.ask_raw("half a body", "fetch", b"\xff\xff\xff\xff\0\0")
