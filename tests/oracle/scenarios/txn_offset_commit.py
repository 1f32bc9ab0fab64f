from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.add_offsets_to_txn import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
)
from interfaces.kafka.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.oracle.groups import commit, consumer_member, fetch_offsets, joined, stable
from tests.oracle.requests import UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun, Topic
from tests.oracle.transactions import Producer

MEMBERS, IMPLICIT = 3, 5
#: In which what a group has committed is shown.
FETCH, PLAIN = 7, 8


def request(
    producer: Producer, group_id: str, topic: Topic, *offsets: int, **more: Any
) -> TxnOffsetCommitRequest:
    """One offset per partition."""
    metadata = more.pop("metadata", "")
    partitions = [
        TxnOffsetCommitRequestPartition(
            partition_index=at, committed_offset=offset, committed_metadata=metadata
        )
        for at, offset in enumerate(offsets)
    ]
    return TxnOffsetCommitRequest(
        **{
            "transactional_id": producer.name,
            "group_id": group_id,
            "producer_id": producer.id,
            "producer_epoch": producer.epoch,
            "topics": [TxnOffsetCommitRequestTopic(name=topic.name, partitions=partitions)],
            **more,
        }
    )


def show(run: ScenarioRun, step: str, group_id: str, topic: Topic) -> None:
    for stable_too in (True, False):
        fetch = fetch_offsets(run, group_id, {topic: [0, 1, 2]}, require_stable=stable_too)
        run.send(f"{step}, {'stable' if stable_too else 'any'}", fetch, FETCH)


def begin(run: ScenarioRun, producer: Producer, group_id: str) -> None:
    """Adds the group, where the version does not."""
    if run.version < IMPLICIT:
        added = AddOffsetsToTxnRequest(
            transactional_id=producer.name,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            group_id=group_id,
        )
        assert run.call(added, AddOffsetsToTxnResponse, 3).error_code == 0


def end(run: ScenarioRun, producer: Producer, committed: bool = True) -> None:
    producer.end(committed, version=5 if run.version >= IMPLICIT else 3)


@scenario("txn_offset_commit")
def transactions(run: ScenarioRun) -> None:
    producer, group, topic = Producer(run), run.group("g"), run.topic("a", 3)
    for committed in (False, True):
        begin(run, producer, group)
        run.send(f"two offsets, {committed}", request(producer, group, topic, 5, 7))
        show(run, f"while it is open, {committed}", group, topic)
        run.send(f"the first again, {committed}", request(producer, group, topic, 6))
        run.send(f"no topics, {committed}", request(producer, group, topic, topics=[]))
        end(run, producer, committed)
        show(run, f"when it has ended, {committed}", group, topic)
    run.send("outside of a transaction", request(producer, group, topic, 9))


@scenario("txn_offset_commit")
def unknown_partitions(run: ScenarioRun) -> None:
    producer, group, topic = Producer(run), run.group("g"), run.topic("a", 2)
    begin(run, producer, group)
    run.send("an unknown topic", request(producer, group, UNKNOWN_TOPIC, 1, 2))
    run.send("an unknown partition", request(producer, group, topic, 1, 2, 3))
    both = request(producer, group, topic, 4)
    both.topics += request(producer, group, UNKNOWN_TOPIC, 5).topics
    run.send("one of two topics", both)
    run.send("a group without a name", request(producer, "", topic, 1))
    too_long = request(producer, group, topic, 1, metadata="x" * 4097)
    too_long.topics += request(producer, group, topic, 2, metadata=None).topics
    run.send("too much metadata", too_long)


@scenario("txn_offset_commit")
def other_producers(run: ScenarioRun) -> None:
    producer, group, topic = Producer(run), run.group("g"), run.topic("a")
    # Kafka does not look at it after the first offset of a transaction.
    for step, name in (("an unknown", "unknown"), ("an empty", "")):
        run.send(
            f"{step} transactional id", request(producer, group, topic, 1, transactional_id=name)
        )
    run.send("a group that is not added", request(producer, group, topic, 1))
    begin(run, producer, group)
    for step, facts in (
        ("a later epoch", {"producer_epoch": producer.epoch + 1}),
        ("a negative epoch", {"producer_epoch": -1}),
        ("another id", {"producer_id": 4_000_000}),
    ):
        run.send(step, request(producer, group, topic, 1, **facts))
    earlier = producer.epoch
    end(run, producer)
    producer.init()
    begin(run, producer, group)
    run.send("an earlier epoch", request(producer, group, topic, 2, producer_epoch=earlier))


@scenario("txn_offset_commit")
def another_producer_with_an_earlier_epoch(run: ScenarioRun) -> None:
    producer, other = Producer(run), Producer(run, "other")
    group, topic = run.group("g"), run.topic("a")
    other.init()
    begin(run, other, group)
    run.send("its offset", request(other, group, topic, 1))
    end(run, other)
    for step, epoch in (("its epoch", other.epoch), ("an earlier epoch", 0)):
        facts = {"producer_id": other.id, "producer_epoch": epoch}
        run.send(step, request(producer, group, topic, 2, **facts))


@scenario("txn_offset_commit")
def beside_plain_commits(run: ScenarioRun) -> None:
    group, topic = run.group("g"), run.topic("a", 3)
    producer, other = Producer(run), Producer(run, "other")
    run.send("a plain commit before", commit(group, topic, 1, 1, 1), PLAIN)
    for one, offset in ((producer, 2), (other, 3)):
        begin(run, one, group)
        run.send(f"offset {offset}", request(one, group, topic, offset, offset))
    run.send("a plain commit", commit(group, topic, 4), PLAIN)
    show(run, "both are open", group, topic)
    end(run, other)
    show(run, "the later one has ended", group, topic)
    end(run, producer)
    show(run, "both have ended", group, topic)


@scenario("txn_offset_commit", first=MEMBERS)
def members(run: ScenarioRun) -> None:
    producer, group, topic = Producer(run), run.group("g"), run.topic("a")
    begin(run, producer, group)
    run.send("an unknown group", request(producer, group, topic, 1, generation_id=1))
    _, mine, generation = stable(run, group, group_instance_id="i")
    member = {"member_id": mine, "generation_id": generation}
    for step, facts in (
        ("a member", member),
        ("its instance id", {**member, "group_instance_id": "i"}),
        ("another instance id", {**member, "group_instance_id": "j"}),
        ("another member id", {**member, "member_id": "nobody", "group_instance_id": "i"}),
        ("an instance id alone", {"group_instance_id": "i"}),
        ("a generation ahead", {**member, "generation_id": generation + 1}),
        ("no generation", {"member_id": mine}),
        ("an unknown member", {**member, "member_id": "nobody"}),
        ("a generation alone", {"generation_id": generation}),
        ("neither", {}),
    ):
        run.send(step, request(producer, group, topic, 1, **facts))
    rebalancing = run.group("h")
    begin(run, producer, rebalancing)
    _, mine, generation = joined(run, rebalancing)
    member = {"member_id": mine, "generation_id": generation}
    run.send("before the assignment", request(producer, rebalancing, topic, 1, **member))


@scenario("txn_offset_commit", first=MEMBERS)
def members_of_a_consumer_group(run: ScenarioRun) -> None:
    producer, group, topic = Producer(run), run.group("g"), run.topic("a")
    begin(run, producer, group)
    epoch = consumer_member(run, group, "m", topic.name).member_epoch
    member = {"member_id": "m", "generation_id": epoch}
    for step, facts in (
        ("a member", member),
        ("an epoch ahead", {**member, "generation_id": epoch + 1}),
        ("an old epoch", {**member, "generation_id": epoch - 1}),
        ("an unknown member", {**member, "member_id": "nobody"}),
        ("no epoch", {"member_id": "m"}),
        ("neither", {}),
    ):
        run.send(step, request(producer, group, topic, 1, **facts))


@scenario("txn_offset_commit")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "txn_offset_commit", b"")
