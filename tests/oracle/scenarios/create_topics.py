from __future__ import annotations

from interfaces.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from tests.fakes.topic_requests import creatable as topic
from tests.oracle.requests import OFFSETS, SHARES
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun


def request(*topics: CreatableTopic, validate_only: bool = False) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), validate_only=validate_only)


@scenario("create_topics")
def good_topics(run: ScenarioRun) -> None:
    run.send("one", request(topic(run.name("a"))))
    run.send("five partitions", request(topic(run.name("b"), 5)))
    run.send("two", request(topic(run.name("c")), topic(run.name("d"), 2)))
    run.send("none", request())
    run.send("defaults", request(topic(run.name("e"), -1, -1)))
    run.send("assigned", request(topic(run.name("f"), -1, -1, {0: [1], 1: [1]})))
    settings: dict[str, str | None] = {"retention.ms": "1000", "cleanup.policy": "compact"}
    run.send("configs", request(topic(run.name("g"), configs=settings)))
    run.send("validate only", request(topic(run.name("h")), validate_only=True))
    run.send("then created", request(topic(run.name("h"))))


@scenario("create_topics")
def names(run: ScenarioRun) -> None:
    taken = run.topic("a.b")
    run.send("taken", request(topic(taken.name)))
    run.send("taken, validate only", request(topic(taken.name), validate_only=True))
    collides = taken.name.replace(".", "_")
    run.placeholders.add_name(collides, "a_b")
    run.send("colliding", request(topic(collides)))
    name = run.name("twice")
    run.send("twice", request(topic(name), topic(name, 2), topic(run.name("once"))))
    for step, illegal in (
        ("empty", ""),
        ("dot", "."),
        ("two dots", ".."),
        ("space", "a b"),
        ("slash", "a/b"),
        ("another alphabet", "ö"),
        ("249 characters", "y" * 249),
        ("250 characters", "y" * 250),
    ):
        run.send(step, request(topic(illegal), validate_only=True))
    run.send("one good, one bad", request(topic("a b"), topic(run.name("good"))))
    run.send("internal", request(topic("__cluster_metadata"), validate_only=True))


@scenario("create_topics")
def internal_topics(run: ScenarioRun) -> None:
    run.send("not created yet", request(topic(SHARES), validate_only=True))
    run.send("__consumer_offsets", request(topic(OFFSETS), validate_only=True))


@scenario("create_topics")
def numbers(run: ScenarioRun) -> None:
    for partitions, replicas in (
        (0, 1), (-2, 1), (1, 0), (1, -2), (1, 2), (1, 32767), (0, 0), (10_001, 1), (-1, 1), (1, -1),
    ):  # fmt: skip
        step = f"{partitions} partitions, {replicas} replicas"
        run.send(step, request(topic(run.name("n"), partitions, replicas), validate_only=True))
    many = [topic(run.name(f"m{at}"), 6_000) for at in (1, 2)]
    run.send("more than 10,000 together", request(*many, validate_only=True))


@scenario("create_topics")
def assignments(run: ScenarioRun) -> None:
    cases: tuple[tuple[str, CreatableTopic], ...] = (
        ("an unknown broker", topic("x", -1, -1, {0: [7]})),
        ("a broker twice", topic("x", -1, -1, {0: [1, 1]})),
        ("two brokers", topic("x", -1, -1, {0: [1, 2]})),
        ("no broker", topic("x", -1, -1, {0: []})),
        ("a negative broker", topic("x", -1, -1, {0: [-1]})),
        ("not from 0", topic("x", -1, -1, {1: [1]})),
        ("a gap", topic("x", -1, -1, {0: [1], 2: [1]})),
        ("negative", topic("x", -1, -1, {-1: [1]})),
        ("and a number of partitions", topic("x", 1, -1, {0: [1]})),
        ("and a number of replicas", topic("x", -1, 1, {0: [1]})),
        ("different lengths", topic("x", -1, -1, {0: [1], 1: [1, 1]})),
    )
    for step, row in cases:
        run.send(step, request(row, validate_only=True))
    twice = topic("x", -1, -1, {0: [1]})
    twice.assignments *= 2
    run.send("a partition twice", request(twice, validate_only=True))


CONFIGS: dict[str, dict[str, str | None]] = {
    "unknown": {"no.such.config": "1"},
    "not a number": {"retention.ms": "soon"},
    "too small": {"max.message.bytes": "-1"},
    "retention -2": {"retention.ms": "-2"},
    "too large": {"max.message.bytes": "9999999999"},
    "not a policy": {"cleanup.policy": "keep"},
    "two policies": {"cleanup.policy": "compact,delete"},
    "no policy": {"cleanup.policy": ""},
    "the policy none": {"cleanup.policy": "none"},
    "no policy between two": {"cleanup.policy": "compact,,delete"},
    "retention below one batch": {"retention.bytes": "1", "retention.ms": "0"},
    "not a codec": {"compression.type": "brotli"},
    "not a boolean": {"preallocate": "maybe"},
    "not a timestamp type": {"message.timestamp.type": "Whenever"},
    "null": {"retention.ms": None},
    "unknown null": {"no.such.config": None},
    "spaces": {"retention.ms": " 1000 "},
    "ratio": {"min.cleanable.dirty.ratio": "1.5"},
    "a segment too small": {"segment.bytes": "1"},
    "more replicas than brokers": {"min.insync.replicas": "2"},
    "none in sync": {"min.insync.replicas": "0"},
    "throttled": {"leader.replication.throttled.replicas": "0:1"},
    "throttled badly": {"leader.replication.throttled.replicas": "x"},
    "remote storage": {"remote.storage.enable": "true"},
    "local retention above retention": {"local.retention.ms": "2000", "retention.ms": "1000"},
    "compaction lags reversed": {"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "3"},
    "gzip 0": {"compression.type": "gzip", "compression.gzip.level": "0"},
    "lz4 99": {"compression.lz4.level": "99"},
    "zstd 99": {"compression.zstd.level": "99"},
    "two wrong": {"retention.ms": "soon", "no.such.config": "1"},
    "a broker config": {"log.retention.ms": "1000"},
    "a config of older versions": {"message.format.version": "3.0"},
}

BELOW = {
    "compression.gzip.level": "-2",
    "compression.lz4.level": "0",
    "compression.zstd.level": "-131073",
    "delete.retention.ms": "-1",
    "file.delete.delay.ms": "-1",
    "flush.messages": "0",
    "flush.ms": "-1",
    "index.interval.bytes": "-1",
    "local.retention.bytes": "-3",
    "local.retention.ms": "-3",
    "max.compaction.lag.ms": "0",
    "message.timestamp.after.max.ms": "-1",
    "message.timestamp.before.max.ms": "-1",
    "min.cleanable.dirty.ratio": "-0.1",
    "min.compaction.lag.ms": "-1",
    "retention.bytes": "-2",
    "segment.bytes": "1048575",
    "segment.index.bytes": "3",
    "segment.jitter.ms": "-1",
    "segment.ms": "0",
    "unclean.leader.election.enable": "yes",
}
LOWEST = {
    "compression.gzip.level": "1",
    "compression.lz4.level": "1",
    "compression.zstd.level": "-131072",
    "delete.retention.ms": "0",
    "file.delete.delay.ms": "0",
    "flush.messages": "1",
    "flush.ms": "0",
    "index.interval.bytes": "0",
    "local.retention.bytes": "-2",
    "local.retention.ms": "-2",
    "max.compaction.lag.ms": "1",
    "max.message.bytes": "0",
    "message.timestamp.after.max.ms": "0",
    "message.timestamp.before.max.ms": "0",
    "min.cleanable.dirty.ratio": "0",
    "min.compaction.lag.ms": "0",
    "min.insync.replicas": "1",
    "retention.bytes": "-1",
    "retention.ms": "-1",
    "segment.bytes": "1048576",
    "segment.index.bytes": "4",
    "segment.jitter.ms": "0",
    "segment.ms": "1",
}
HIGHEST = {
    "compression.gzip.level": "9",
    "compression.lz4.level": "17",
    "compression.zstd.level": "22",
    "max.message.bytes": str(2**31 - 1),
    "min.cleanable.dirty.ratio": "1",
    "retention.ms": str(2**63 - 1),
    "segment.bytes": str(2**31 - 1),
}
ABOVE = {
    "compression.gzip.level": "10",
    "compression.lz4.level": "18",
    "compression.zstd.level": "23",
    "max.message.bytes": str(2**31),
    "min.cleanable.dirty.ratio": "1.01",
    "retention.ms": str(2**63),
    "segment.bytes": str(2**31),
}


@scenario("create_topics", first=7)
def bounds_of_configs(run: ScenarioRun) -> None:
    for word, cases in (("below", BELOW), ("above", ABOVE)):
        for name, text in cases.items():
            refused = topic("x", configs={name: text})
            run.send(f"{name} {word}", request(refused, validate_only=True))
    for word, accepted in (("lowest", dict(LOWEST)), ("highest", dict(HIGHEST))):
        run.send(word, request(topic("x", configs={**accepted}), validate_only=True))


@scenario("create_topics")
def configs(run: ScenarioRun) -> None:
    for step, settings in CONFIGS.items():
        run.send(step, request(topic("x", configs=settings), validate_only=True))
    twice = topic("x", configs={"retention.ms": "1000"})
    twice.configs.append(CreatableTopicConfig(name="retention.ms", value="2000"))
    run.send("one twice", request(twice, validate_only=True))


@scenario("create_topics")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "create_topics", b"")
    flexible = run.version >= 5
    run.send_raw("null topics", "create_topics", b"\0" if flexible else b"\xff" * 4)
    run.send_raw("many topics", "create_topics", b"\xff\xff\xff\x7f" if flexible else b"\x7f" * 4)
