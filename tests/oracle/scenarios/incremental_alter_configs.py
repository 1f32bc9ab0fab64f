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
from tests.oracle.configs import DESCRIBE, becomes, is_taken_back
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
POLICY = "cleanup.policy"


@scenario("incremental_alter_configs")
def values_of_topics(tell: Teller) -> None:
    topic = tell.topic("a", retention_ms="1000")
    operations: list[Operation] = [
        ("max.message.bytes", SET, " 5000 "),
        ("retention.ms", DELETE, None),
        ("segment.ms", DELETE, "any"),
    ]
    tell.ask("set and deleted", changed((TOPIC, topic.name, operations)))
    becomes(tell, TOPIC, topic.name, "max.message.bytes", "5000")
    then = described((TOPIC, topic.name), keys=[one[0] for one in operations])
    tell.ask("what is then", then, DESCRIBE)
    only = changed((TOPIC, topic.name, [("max.message.bytes", SET, "1")]), only=True)
    tell.ask("only looked at", only)
    tell.ask("nothing", changed((TOPIC, topic.name, [])))
    tell.ask("what is still", then, DESCRIBE)
    tell.ask("no resources", changed())


@scenario("incremental_alter_configs")
def lists(tell: Teller) -> None:
    topic = tell.topic("a")
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
        tell.ask(step, changed((TOPIC, topic.name, [(POLICY, operation, text)])))
        shown = ",".join(dict.fromkeys(one.strip() for one in then.split(",")))
        becomes(tell, TOPIC, topic.name, POLICY, shown)
    for step, operation, text in (
        ("appended nothing", APPEND, ""),
        ("appended what may not be", APPEND, "nope"),
    ):
        tell.ask(step, changed((TOPIC, topic.name, [(POLICY, operation, text)])))


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
    "appended to a number": [("retention.ms", APPEND, "1")],
    "subtracted from a number": [("retention.ms", SUBTRACT, "1")],
    "one good, one bad": [("retention.ms", SET, "1"), ("max.message.bytes", SET, "x")],
    "compaction backwards": [
        ("min.compaction.lag.ms", SET, "9"),
        ("max.compaction.lag.ms", SET, "3"),
    ],
    "remote storage": [("remote.storage.enable", SET, "true")],
    "operation 9": [("retention.ms", 9, "1")],
    "operation -1": [("retention.ms", -1, "1")],
}


@scenario("incremental_alter_configs")
def refusals_of_topics(tell: Teller) -> None:
    topic = tell.topic("a")
    for step, operations in REFUSED.items():
        tell.ask(step, changed((TOPIC, topic.name, operations), only=True))
    good: list[Operation] = [("retention.ms", SET, "1")]
    for step, name in (("unknown topic", "no-such-topic"), ("illegal", "a b"), ("no name", "")):
        tell.ask(step, changed((TOPIC, name, good)))
    tell.ask("unknown topic and config", changed((TOPIC, "nope", [("no.such", SET, "1")])))
    tell.ask("unknown topic, nothing", changed((TOPIC, "no-such-topic", [])))
    tell.ask(
        "one topic twice",
        changed((TOPIC, topic.name, good), (TOPIC, "nope", good), (TOPIC, topic.name, good)),
    )
    tell.ask(
        "good and bad ones",
        changed((TOPIC, "nope", good), (TOPIC, topic.name, good), (99, "x", good), only=True),
    )
    keys = ["retention.ms", "max.message.bytes"]
    tell.ask("nothing has changed", described((TOPIC, topic.name), keys=keys), DESCRIBE)


@scenario("incremental_alter_configs")
def brokers(tell: Teller) -> None:
    name = "log.cleanup.policy"
    keys = [name, "log.retention.ms"]
    for step, broker, then in (("all", "", None), ("this one", "1", "delete")):
        asked = changed((BROKER, broker, [(name, APPEND, "compact")]))
        tell.ask(f"{step}: appended", asked)
        becomes(tell, BROKER, broker, name, "delete,compact")
        tell.ask(f"{step}: what is then", described((BROKER, broker), keys=keys), DESCRIBE)
        is_taken_back(tell, BROKER, broker, name, then)
    for step, operations in BROKER_CASES.items():
        for broker in ("", "1"):
            tell.ask(f"{step}, {broker!r}", changed((BROKER, broker, operations), only=True))
    good: list[Operation] = [("log.retention.ms", SET, "1")]
    for broker in ("7", "x", "-1"):
        tell.ask(f"broker {broker}", changed((BROKER, broker, good)))


BROKER_CASES: dict[str, list[Operation]] = {
    "good": [("log.retention.ms", SET, "1000"), ("message.max.bytes", SET, "1000")],
    "read-only": [("num.partitions", SET, "3")],
    "read-only, deleted": [("num.partitions", DELETE, None)],
    "two read-only": [("num.partitions", SET, "3"), ("node.id", SET, "3")],
    "read-only and good": [("num.partitions", SET, "3"), ("log.retention.ms", SET, "3")],
    "unknown": [("no.such.config", SET, "3")],
    "unknown, deleted": [("no.such.config", DELETE, None)],
    "not a number": [("log.retention.ms", SET, "soon")],
    "too small": [("message.max.bytes", SET, "-1")],
    "not a policy": [("log.cleanup.policy", SET, "keep")],
    "appended to a number": [("log.retention.ms", APPEND, "1")],
    "subtracted from a number": [("log.retention.ms", SUBTRACT, "1")],
    "null": [("log.retention.ms", SET, None)],
    "one twice": [("log.retention.ms", SET, "1"), ("log.retention.ms", SET, "1")],
    "operation 9": [("log.retention.ms", 9, "1")],
}


@scenario("incremental_alter_configs")
def groups(tell: Teller) -> None:
    group = tell.group("g")
    tell.ask("set", changed((GROUP, group, [(SESSION, SET, "50000"), (HEARTBEAT, SET, "15000")])))
    becomes(tell, GROUP, group, SESSION, "50000")
    keys = [SESSION, HEARTBEAT]
    tell.ask("what is then", described((GROUP, group), keys=keys), DESCRIBE)
    tell.ask("deleted", changed((GROUP, group, [(SESSION, DELETE, ""), (HEARTBEAT, DELETE, "")])))
    becomes(tell, GROUP, group, SESSION, "45000")
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
        tell.ask(step, changed((GROUP, group, operations), only=True))
    tell.ask("without a name", changed((GROUP, "", [(SESSION, SET, "45000")])))


@scenario("incremental_alter_configs")
def other_resources(tell: Teller) -> None:
    for step, kind, name, operations in (
        ("a logger that there is not", LOGGER, "1", [("no.such.logger", SET, "INFO")]),
        ("appended to a logger", LOGGER, "1", [("no.such.logger", APPEND, "INFO")]),
        ("a level that there is not", LOGGER, "1", [("no.such.logger", SET, "LOUD")]),
        ("no logger", LOGGER, "1", []),
        ("a logger of another broker", LOGGER, "7", [("no.such.logger", SET, "INFO")]),
        ("a logger of no broker", LOGGER, "", [("no.such.logger", SET, "INFO")]),
        ("metrics of clients", METRICS, "m", [("interval.ms", SET, "1000")]),
        ("type 0", 0, "x", [("retention.ms", SET, "1")]),
        ("type 1", 1, "x", []),
        ("type 99", 99, "x", [("retention.ms", SET, "1")]),
    ):
        tell.ask(step, changed((kind, name, list(operations)), only=True))


@scenario("incremental_alter_configs")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "incremental_alter_configs", b"")
    null = b"\0" if tell.version >= 1 else b"\xff" * 4
    tell.ask_raw("null resources", "incremental_alter_configs", null + b"\0" * 2)
