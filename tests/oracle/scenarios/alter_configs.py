"""No resource twice in a request: Kafka's broker does not respond to that."""

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
from tests.oracle.configs import DESCRIBE, wait_for_config
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"

Configs = dict[str, str | None]


@scenario("alter_configs")
def topics(run: ScenarioRun) -> None:
    topic = run.topic("a", retention_ms="1000", max_message_bytes="5000")
    run.send("replaced", replaced((TOPIC, topic.name, {"retention.ms": "2000"})))
    wait_for_config(run, TOPIC, topic.name, "retention.ms", "2000")
    keys = ["retention.ms", "max.message.bytes"]
    then = described((TOPIC, topic.name), keys=keys)
    run.send("described", then, DESCRIBE)
    run.send("validate only", replaced((TOPIC, topic.name, {}), only=True))
    run.send("described again", then, DESCRIBE)
    run.send("replaced by nothing", replaced((TOPIC, topic.name, {})))
    wait_for_config(run, TOPIC, topic.name, "retention.ms", "604800000")
    run.send("no resources", replaced())


@scenario("alter_configs")
def brokers_and_groups(run: ScenarioRun) -> None:
    group = run.group("g")
    run.send("a group", replaced((GROUP, group, {SESSION: "50000"})))
    wait_for_config(run, GROUP, group, SESSION, "50000")
    run.send("a group replaced by nothing", replaced((GROUP, group, {})))
    wait_for_config(run, GROUP, group, SESSION, "45000")
    run.send("this broker", replaced((BROKER, "1", {"log.retention.ms": "1000"})))
    wait_for_config(run, BROKER, "1", "log.retention.ms", "1000")
    run.send("this broker replaced by nothing", replaced((BROKER, "1", {})))
    wait_for_config(run, BROKER, "1", "log.retention.ms", None)


@scenario("alter_configs")
def refusals(run: ScenarioRun) -> None:
    topic = run.topic("a").name
    cases: tuple[tuple[str, int, str, Configs], ...] = (
        ("unknown config", TOPIC, topic, {"no.such.config": "1"}),
        ("null", TOPIC, topic, {"retention.ms": None, "no.such.config": None}),
        ("not a number", TOPIC, topic, {"retention.ms": "soon"}),
        ("one valid, one invalid", TOPIC, topic, {"retention.ms": "1", "max.message.bytes": "x"}),
        ("not a codec", TOPIC, topic, {"compression.type": "brotli"}),
        ("lz4 18", TOPIC, topic, {"compression.lz4.level": "18"}),
        ("not a policy", TOPIC, topic, {"cleanup.policy": "none"}),
        (
            *("compaction lags reversed", TOPIC, topic),
            {"min.compaction.lag.ms": "9", "max.compaction.lag.ms": "3"},
        ),
        ("unknown topic", TOPIC, "no-such-topic", {}),
        ("unknown topic and config", TOPIC, "no-such-topic", {"no.such.config": "1"}),
        ("illegal topic", TOPIC, "a b", {"retention.ms": "1"}),
        ("topic without a name", TOPIC, "", {"retention.ms": "1"}),
        ("read-only", BROKER, "1", {"num.partitions": "3"}),
        ("broker, not a number", BROKER, "1", {"log.retention.ms": "soon"}),
        ("another broker", BROKER, "7", {"log.retention.ms": "1"}),
        ("a broker id that is no number", BROKER, "x", {"log.retention.ms": "1"}),
        ("group without a name", GROUP, "", {SESSION: "45000"}),
        ("group, too short", GROUP, "g", {SESSION: "1"}),
        ("group, unknown", GROUP, "g", {"no.such.config": "1"}),
        ("logger", LOGGER, "1", {"no.such.logger": "INFO"}),
        ("metrics of clients", METRICS, "m", {}),
        ("type 0", 0, "x", {}),
        ("type 99", 99, "x", {}),
    )
    for step, kind, name, configs in cases:
        run.send(step, replaced((kind, name, configs), only=True))
    twice = replaced((TOPIC, topic, {"retention.ms": "1"}))
    twice.resources[0].configs *= 2
    run.send("one config twice", twice)
    good: Configs = {"retention.ms": "1"}
    mixed = ((TOPIC, topic, good), (TOPIC, "nope", good), (99, "x", good))
    run.send("valid and invalid ones", replaced(*mixed, only=True))


@scenario("alter_configs")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "alter_configs", b"")
    null = b"\0" if run.version >= 2 else b"\xff" * 4
    run.send_raw("null resources", "alter_configs", null + b"\0" * 2)
