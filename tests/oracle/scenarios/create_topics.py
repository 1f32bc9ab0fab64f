from __future__ import annotations

from interfaces.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from tests.fakes.topic_requests import creatable as topic
from tests.oracle.requests import OFFSETS, SHARES
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def asked(*topics: CreatableTopic, validate_only: bool = False) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), validate_only=validate_only)


@scenario("create_topics")
def good_topics(tell: Teller) -> None:
    tell.ask("one", asked(topic(tell.name("a"))))
    tell.ask("five partitions", asked(topic(tell.name("b"), 5)))
    tell.ask("two", asked(topic(tell.name("c")), topic(tell.name("d"), 2)))
    tell.ask("none", asked())
    tell.ask("defaults", asked(topic(tell.name("e"), -1, -1)))
    tell.ask("assigned", asked(topic(tell.name("f"), -1, -1, {0: [1], 1: [1]})))
    settings: dict[str, str | None] = {"retention.ms": "1000", "cleanup.policy": "compact"}
    tell.ask("configs", asked(topic(tell.name("g"), configs=settings)))
    tell.ask("only looked at", asked(topic(tell.name("h")), validate_only=True))
    tell.ask("and then made", asked(topic(tell.name("h"))))


@scenario("create_topics")
def names(tell: Teller) -> None:
    taken = tell.topic("a.b")
    tell.ask("taken", asked(topic(taken.name)))
    tell.ask("taken, only looked at", asked(topic(taken.name), validate_only=True))
    collides = taken.name.replace(".", "_")
    tell.placeholders.add_topic(collides, "a_b")
    tell.ask("colliding", asked(topic(collides)))
    name = tell.name("twice")
    tell.ask("twice", asked(topic(name), topic(name, 2), topic(tell.name("once"))))
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
        tell.ask(step, asked(topic(illegal), validate_only=True))
    tell.ask("one good, one bad", asked(topic("a b"), topic(tell.name("good"))))
    tell.ask("internal", asked(topic("__cluster_metadata"), validate_only=True))


@scenario("create_topics")
def internal_topics(tell: Teller) -> None:
    tell.ask("not created yet", asked(topic(SHARES), validate_only=True))
    tell.ask("of committed offsets", asked(topic(OFFSETS), validate_only=True))


@scenario("create_topics")
def numbers(tell: Teller) -> None:
    for partitions, replicas in (
        (0, 1), (-2, 1), (1, 0), (1, -2), (1, 2), (1, 32767), (0, 0), (10_001, 1), (-1, 1), (1, -1),
    ):  # fmt: skip
        step = f"{partitions} partitions, {replicas} replicas"
        tell.ask(step, asked(topic(tell.name("n"), partitions, replicas), validate_only=True))
    many = [topic(tell.name(f"m{at}"), 6_000) for at in (1, 2)]
    tell.ask("more than 10,000 together", asked(*many, validate_only=True))


@scenario("create_topics")
def assignments(tell: Teller) -> None:
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
    for step, wanted in cases:
        tell.ask(step, asked(wanted, validate_only=True))
    twice = topic("x", -1, -1, {0: [1]})
    twice.assignments *= 2
    tell.ask("a partition twice", asked(twice, validate_only=True))


CONFIGS: dict[str, dict[str, str | None]] = {
    "unknown": {"no.such.config": "1"},
    "not a number": {"retention.ms": "soon"},
    "too small": {"max.message.bytes": "-1"},
    "retention -2": {"retention.ms": "-2"},
    "too large": {"max.message.bytes": "9999999999"},
    "not a policy": {"cleanup.policy": "keep"},
    "two policies": {"cleanup.policy": "compact,delete"},
    "no policy": {"cleanup.policy": ""},
    "not a codec": {"compression.type": "brotli"},
    "not a boolean": {"preallocate": "maybe"},
    "not a timestamp type": {"message.timestamp.type": "Whenever"},
    "null": {"retention.ms": None},
    "unknown null": {"no.such.config": None},
    "spaces": {"retention.ms": " 1000 "},
    "ratio": {"min.cleanable.dirty.ratio": "1.5"},
    "a segment that is too small": {"segment.bytes": "1"},
    "replicas that there are not": {"min.insync.replicas": "2"},
    "none in sync": {"min.insync.replicas": "0"},
    "throttled": {"leader.replication.throttled.replicas": "0:1"},
    "throttled badly": {"leader.replication.throttled.replicas": "x"},
    "remote storage": {"remote.storage.enable": "true"},
    "local above the whole": {"local.retention.ms": "2000", "retention.ms": "1000"},
    "compaction backwards": {"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "3"},
    "gzip 0": {"compression.type": "gzip", "compression.gzip.level": "0"},
    "lz4 99": {"compression.lz4.level": "99"},
    "zstd 99": {"compression.zstd.level": "99"},
    "two wrong": {"retention.ms": "soon", "no.such.config": "1"},
    "of the broker": {"log.retention.ms": "1000"},
    "of old versions": {"message.format.version": "3.0"},
}


@scenario("create_topics")
def configs(tell: Teller) -> None:
    for step, settings in CONFIGS.items():
        tell.ask(step, asked(topic("x", configs=settings), validate_only=True))
    twice = topic("x", configs={"retention.ms": "1000"})
    twice.configs.append(CreatableTopicConfig(name="retention.ms", value="2000"))
    tell.ask("one twice", asked(twice, validate_only=True))


@scenario("create_topics")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "create_topics", b"")
    flexible = tell.version >= 5
    tell.ask_raw("null topics", "create_topics", b"\0" if flexible else b"\xff" * 4)
    tell.ask_raw("many topics", "create_topics", b"\xff\xff\xff\x7f" if flexible else b"\x7f" * 4)
