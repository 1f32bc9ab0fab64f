from __future__ import annotations

from tests.fakes.config_requests import (
    APPEND,
    BROKER,
    DELETE,
    GROUP,
    LOGGER,
    METRICS,
    SET,
    SUBTRACT,
    TOPIC,
    Operation,
    changed,
    described,
)
from tests.oracle.configs import DESCRIBE, reset_config, wait_for_config
from tests.oracle.requests import OFFSETS
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
POLICY = "cleanup.policy"


@scenario("incremental_alter_configs")
def values_of_topics(run: ScenarioRun) -> None:
    topic = run.topic("a", retention_ms="1000")
    operations: list[Operation] = [
        ("max.message.bytes", SET, " 5000 "),
        ("retention.ms", DELETE, None),
        ("segment.ms", DELETE, "any"),
    ]
    run.send("set and deleted", changed((TOPIC, topic.name, operations)))
    wait_for_config(run, TOPIC, topic.name, "max.message.bytes", "5000")
    then = described((TOPIC, topic.name), keys=[one[0] for one in operations])
    run.send("described", then, DESCRIBE)
    only = changed((TOPIC, topic.name, [("max.message.bytes", SET, "1")]), only=True)
    run.send("validate only", only)
    run.send("nothing", changed((TOPIC, topic.name, [])))
    run.send("described again", then, DESCRIBE)
    run.send("no resources", changed())


@scenario("incremental_alter_configs")
def internal_topics(run: ScenarioRun) -> None:
    operations: list[Operation] = [(POLICY, SET, "delete"), ("segment.bytes", SET, "2000000")]
    run.send("validate only", changed((TOPIC, OFFSETS, operations), only=True))


@scenario("incremental_alter_configs")
def lists(run: ScenarioRun) -> None:
    topic = run.topic("a")
    for step, operation, text, then in (
        ("appended", APPEND, "compact", "delete,compact"),
        ("appended again", APPEND, "compact,delete", "delete,compact"),
        ("subtracted", SUBTRACT, "delete", "compact"),
        ("subtracted, not there", SUBTRACT, "nope", "compact"),
        ("the last subtracted", SUBTRACT, "compact", ""),
        ("appended to nothing", APPEND, "delete", "delete"),
        ("appended with a blank", APPEND, " delete", "delete"),
        ("appended, an empty item at the end", APPEND, "compact,", "delete, delete,compact"),
        ("set", SET, "delete", "delete"),
        ("set to nothing", SET, "", ""),
        ("deleted", DELETE, "delete", "delete"),
    ):
        run.send(step, changed((TOPIC, topic.name, [(POLICY, operation, text)])))
        shown = ",".join(dict.fromkeys(one.strip() for one in then.split(",")))
        wait_for_config(run, TOPIC, topic.name, POLICY, shown)
    for step, operation, text in (
        ("appended nothing", APPEND, ""),
        ("appended an invalid item", APPEND, "nope"),
    ):
        run.send(step, changed((TOPIC, topic.name, [(POLICY, operation, text)])))


REFUSED: dict[str, list[Operation]] = {
    "unknown": [("no.such.config", SET, "1")],
    "unknown, deleted": [("no.such.config", DELETE, None)],
    "unknown, appended": [("no.such.config", APPEND, "1")],
    "null": [("retention.ms", SET, None)],
    "two nulls": [("no.such.config", APPEND, None), ("retention.ms", SUBTRACT, None)],
    "one twice": [("retention.ms", SET, "1"), ("retention.ms", DELETE, None)],
    "not a number": [("retention.ms", SET, "soon")],
    "too small": [("max.message.bytes", SET, "-1")],
    "not a policy": [(POLICY, SET, "keep")],
    "not a codec": [("compression.type", SET, "brotli")],
    "gzip 0": [("compression.gzip.level", SET, "0")],
    "appended to a number": [("retention.ms", APPEND, "1")],
    "subtracted from a number": [("retention.ms", SUBTRACT, "1")],
    "one valid, one invalid": [("retention.ms", SET, "1"), ("max.message.bytes", SET, "x")],
    "compaction lags reversed": [
        ("min.compaction.lag.ms", SET, "9"),
        ("max.compaction.lag.ms", SET, "3"),
    ],
    "remote storage": [("remote.storage.enable", SET, "true")],
    "operation 9": [("retention.ms", 9, "1")],
    "operation -1": [("retention.ms", -1, "1")],
}


@scenario("incremental_alter_configs")
def refusals_of_topics(run: ScenarioRun) -> None:
    topic = run.topic("a")
    for step, operations in REFUSED.items():
        run.send(step, changed((TOPIC, topic.name, operations), only=True))
    good: list[Operation] = [("retention.ms", SET, "1")]
    for step, name in (("unknown topic", "no-such-topic"), ("illegal", "a b"), ("no name", "")):
        run.send(step, changed((TOPIC, name, good)))
    run.send("unknown topic and config", changed((TOPIC, "nope", [("no.such", SET, "1")])))
    run.send("unknown topic, nothing", changed((TOPIC, "no-such-topic", [])))
    run.send(
        "one topic twice",
        changed((TOPIC, topic.name, good), (TOPIC, "nope", good), (TOPIC, topic.name, good)),
    )
    run.send(
        "valid and invalid ones",
        changed((TOPIC, "nope", good), (TOPIC, topic.name, good), (99, "x", good), only=True),
    )
    keys = ["retention.ms", "max.message.bytes"]
    run.send("unchanged", described((TOPIC, topic.name), keys=keys), DESCRIBE)


@scenario("incremental_alter_configs")
def brokers(run: ScenarioRun) -> None:
    name = "log.cleanup.policy"
    keys = [name, "log.retention.ms"]
    for step, broker, then in (("all", "", None), ("this one", "1", "delete")):
        run.send(f"{step}: appended", changed((BROKER, broker, [(name, APPEND, "compact")])))
        wait_for_config(run, BROKER, broker, name, "delete,compact")
        run.send(f"{step}: described", described((BROKER, broker), keys=keys), DESCRIBE)
        reset_config(run, BROKER, broker, name, then)
    for step, operations in BROKER_CASES.items():
        for broker in ("", "1"):
            run.send(f"{step}, {broker!r}", changed((BROKER, broker, operations), only=True))
    good: list[Operation] = [("log.retention.ms", SET, "1")]
    for broker in ("7", "x", "-1"):
        run.send(f"broker {broker}", changed((BROKER, broker, good)))


BROKER_CASES: dict[str, list[Operation]] = {
    "good": [("log.retention.ms", SET, "1000"), ("message.max.bytes", SET, "1000")],
    "read-only": [("num.partitions", SET, "3")],
    "read-only, deleted": [("num.partitions", DELETE, None)],
    "two read-only": [("num.partitions", SET, "3"), ("node.id", SET, "3")],
    "read-only and good": [("num.partitions", SET, "3"), ("log.retention.ms", SET, "3")],
    "advertised listeners": [("advertised.listeners", SET, "PLAINTEXT://example:1")],
    "unknown": [("no.such.config", SET, "3")],
    "unknown, deleted": [("no.such.config", DELETE, None)],
    "not a number": [("log.retention.ms", SET, "soon")],
    "too small": [("message.max.bytes", SET, "-1")],
    "not a policy": [("log.cleanup.policy", SET, "keep")],
    "not a codec": [("compression.type", SET, "brotli")],
    "gzip 0": [("compression.gzip.level", SET, "0")],
    "lz4 18": [("compression.lz4.level", SET, "18")],
    "zstd 23": [("compression.zstd.level", SET, "23")],
    "a segment too small": [("log.segment.bytes", SET, "1048575")],
    "no policy": [("log.cleanup.policy", SET, "")],
    "more replicas than brokers": [("min.insync.replicas", SET, "2")],
    "none in sync": [("min.insync.replicas", SET, "0")],
    "in sync, deleted": [("min.insync.replicas", DELETE, None)],
    "compaction lags reversed": [
        ("log.cleaner.min.compaction.lag.ms", SET, "9"),
        ("log.cleaner.max.compaction.lag.ms", SET, "3"),
    ],
    "appended to a number": [("log.retention.ms", APPEND, "1")],
    "subtracted from a number": [("log.retention.ms", SUBTRACT, "1")],
    "null": [("log.retention.ms", SET, None)],
    "one twice": [("log.retention.ms", SET, "1"), ("log.retention.ms", SET, "1")],
    "operation 9": [("log.retention.ms", 9, "1")],
}


@scenario("incremental_alter_configs")
def groups(run: ScenarioRun) -> None:
    group = run.group("g")
    run.send("set", changed((GROUP, group, [(SESSION, SET, "50000"), (HEARTBEAT, SET, "15000")])))
    wait_for_config(run, GROUP, group, SESSION, "50000")
    keys = [SESSION, HEARTBEAT]
    run.send("described", described((GROUP, group), keys=keys), DESCRIBE)
    run.send("deleted", changed((GROUP, group, [(SESSION, DELETE, ""), (HEARTBEAT, DELETE, "")])))
    wait_for_config(run, GROUP, group, SESSION, "45000")
    cases: dict[str, list[Operation]] = {
        "session too short": [(SESSION, SET, "44999")],
        "session too long": [(SESSION, SET, "60001")],
        "heartbeat too soon": [(HEARTBEAT, SET, "4999")],
        "heartbeat too late": [(HEARTBEAT, SET, "15001")],
        "both wrong": [(SESSION, SET, "1"), (HEARTBEAT, SET, "1")],
        "zero": [(SESSION, SET, "0")],
        "not a number": [(SESSION, SET, "soon")],
        "null": [(SESSION, SET, None)],
        "unknown": [("no.such.config", SET, "1")],
        "unknown, deleted": [("no.such.config", DELETE, None)],
        "appended": [(SESSION, APPEND, "1")],
        "one twice": [(SESSION, SET, "45000"), (SESSION, SET, "45000")],
        "of share groups": [("share.session.timeout.ms", SET, "46000")],
    }
    for step, operations in cases.items():
        run.send(step, changed((GROUP, group, operations), only=True))
    run.send("without a name", changed((GROUP, "", [(SESSION, SET, "45000")])))


@scenario("incremental_alter_configs")
def other_resources(run: ScenarioRun) -> None:
    for step, kind, name, operations in (
        ("an unknown logger", LOGGER, "1", [("no.such.logger", SET, "INFO")]),
        ("appended to a logger", LOGGER, "1", [("no.such.logger", APPEND, "INFO")]),
        ("an unknown level", LOGGER, "1", [("no.such.logger", SET, "LOUD")]),
        ("no logger", LOGGER, "1", []),
        ("a logger of another broker", LOGGER, "7", [("no.such.logger", SET, "INFO")]),
        ("a logger of no broker", LOGGER, "", [("no.such.logger", SET, "INFO")]),
        ("metrics of clients", METRICS, "m", [("interval.ms", SET, "1000")]),
        ("type 0", 0, "x", [("retention.ms", SET, "1")]),
        ("type 1", 1, "x", []),
        ("type 99", 99, "x", [("retention.ms", SET, "1")]),
    ):
        run.send(step, changed((kind, name, list(operations)), only=True))


@scenario("incremental_alter_configs")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "incremental_alter_configs", b"")
    null = b"\0" if run.version >= 1 else b"\xff" * 4
    run.send_raw("null resources", "incremental_alter_configs", null + b"\0" * 2)
