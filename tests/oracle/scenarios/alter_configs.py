"""Not asked: one resource twice, which Kafka's broker leaves without an answer."""

from __future__ import annotations

from tests.fakes.config_requests import (
    BROKER,
    GROUP,
    LOGGER,
    METRICS,
    TOPIC,
    described,
    replaced,
)
from tests.oracle.configs import DESCRIBE, becomes
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"

Configs = dict[str, str | None]


@scenario("alter_configs")
def topics(tell: Teller) -> None:
    topic = tell.topic("a", retention_ms="1000", max_message_bytes="5000")
    tell.ask("replaced", replaced((TOPIC, topic.name, {"retention.ms": "2000"})))
    becomes(tell, TOPIC, topic.name, "retention.ms", "2000")
    keys = ["retention.ms", "max.message.bytes"]
    then = described((TOPIC, topic.name), keys=keys)
    tell.ask("what is then", then, DESCRIBE)
    tell.ask("only looked at", replaced((TOPIC, topic.name, {}), only=True))
    tell.ask("what is still", then, DESCRIBE)
    tell.ask("by nothing", replaced((TOPIC, topic.name, {})))
    becomes(tell, TOPIC, topic.name, "retention.ms", "604800000")
    tell.ask("no resources", replaced())


@scenario("alter_configs")
def brokers_and_groups(tell: Teller) -> None:
    group = tell.group("g")
    tell.ask("a group", replaced((GROUP, group, {SESSION: "50000"})))
    becomes(tell, GROUP, group, SESSION, "50000")
    tell.ask("a group by nothing", replaced((GROUP, group, {})))
    becomes(tell, GROUP, group, SESSION, "45000")
    tell.ask("this broker", replaced((BROKER, "1", {"log.retention.ms": "1000"})))
    becomes(tell, BROKER, "1", "log.retention.ms", "1000")
    tell.ask("this broker by nothing", replaced((BROKER, "1", {})))
    becomes(tell, BROKER, "1", "log.retention.ms", None)


@scenario("alter_configs")
def refusals(tell: Teller) -> None:
    topic = tell.topic("a").name
    cases: tuple[tuple[str, int, str, Configs], ...] = (
        ("unknown config", TOPIC, topic, {"no.such.config": "1"}),
        ("null", TOPIC, topic, {"retention.ms": None, "no.such.config": None}),
        ("not a number", TOPIC, topic, {"retention.ms": "soon"}),
        ("one good, one bad", TOPIC, topic, {"retention.ms": "1", "max.message.bytes": "x"}),
        ("unknown topic", TOPIC, "no-such-topic", {}),
        ("unknown topic and config", TOPIC, "no-such-topic", {"no.such.config": "1"}),
        ("illegal topic", TOPIC, "a b", {"retention.ms": "1"}),
        ("topic without a name", TOPIC, "", {"retention.ms": "1"}),
        ("read-only", BROKER, "1", {"num.partitions": "3"}),
        ("broker, not a number", BROKER, "1", {"log.retention.ms": "soon"}),
        ("another broker", BROKER, "7", {"log.retention.ms": "1"}),
        ("broker of no number", BROKER, "x", {"log.retention.ms": "1"}),
        ("group without a name", GROUP, "", {SESSION: "45000"}),
        ("group, too short", GROUP, "g", {SESSION: "1"}),
        ("group, unknown", GROUP, "g", {"no.such.config": "1"}),
        ("logger", LOGGER, "1", {"no.such.logger": "INFO"}),
        ("metrics of clients", METRICS, "m", {}),
        ("type 0", 0, "x", {}),
        ("type 99", 99, "x", {}),
    )
    for step, kind, name, configs in cases:
        tell.ask(step, replaced((kind, name, configs), only=True))
    twice = replaced((TOPIC, topic, {"retention.ms": "1"}))
    twice.resources[0].configs *= 2
    tell.ask("one config twice", twice)
    good: Configs = {"retention.ms": "1"}
    mixed = ((TOPIC, topic, good), (TOPIC, "nope", good), (99, "x", good))
    tell.ask("good and bad ones", replaced(*mixed, only=True))


@scenario("alter_configs")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "alter_configs", b"")
    null = b"\0" if tell.version >= 2 else b"\xff" * 4
    tell.ask_raw("null resources", "alter_configs", null + b"\0" * 2)
