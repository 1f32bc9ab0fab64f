from __future__ import annotations

from tests.fakes.config_requests import BROKER, GROUP, LOGGER, METRICS, TOPIC, described
from tests.oracle.configs import reset_config, set_config
from tests.oracle.requests import OFFSETS, TRANSACTIONS
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

SESSION, HEARTBEAT = "consumer.session.timeout.ms", "consumer.heartbeat.interval.ms"
RETENTION = ["log.retention.ms", "log.retention.minutes", "log.retention.hours"]

#: Settings with the same default here and there.
SETTINGS = [
    *RETENTION,
    "message.max.bytes",
    "log.roll.ms",
    "log.roll.hours",
    "log.roll.jitter.ms",
    "log.flush.interval.ms",
    "log.flush.scheduler.interval.ms",
    "log.cleanup.policy",
    "log.cleaner.min.cleanable.ratio",
    "compression.type",
    "unclean.leader.election.enable",
    "delete.topic.enable",
    "default.replication.factor",
    "connections.max.idle.ms",
    "fetch.max.bytes",
    "socket.request.max.bytes",
    "max.connections.per.ip",
    "producer.id.expiration.ms",
    "offset.metadata.max.bytes",
    "group.consumer.session.timeout.ms",
    "group.consumer.assignors",
    "broker.rack",
]


@scenario("describe_configs")
def topics(run: ScenarioRun) -> None:
    plain = run.topic("a")
    own = run.topic("b", retention_ms="1000", cleanup_policy="compact,delete", segment_ms="7")
    run.send("all", described((TOPIC, plain.name)))
    run.send("all, without synonyms", described((TOPIC, plain.name), synonyms=False))
    run.send("topic configs", described((TOPIC, own.name)))
    keys = ["retention.ms", "no.such.config", "cleanup.policy", "retention.ms"]
    run.send("named configs", described((TOPIC, own.name), keys=keys))
    run.send("an empty list of names", described((TOPIC, own.name), keys=[]))
    run.send("an unknown name only", described((TOPIC, own.name), keys=["no.such.config"]))
    twice = [(TOPIC, own.name), (TOPIC, plain.name), (TOPIC, own.name)]
    run.send("one twice", described(*twice, keys=["retention.ms"]))


@scenario("describe_configs")
def internal_topics(run: ScenarioRun) -> None:
    run.send("all", described((TOPIC, OFFSETS)))
    run.send("all of transactions", described((TOPIC, TRANSACTIONS)))


@scenario("describe_configs")
def brokers(run: ScenarioRun) -> None:
    run.send("this one", described((BROKER, "1"), keys=SETTINGS))
    run.send("as Java reads numbers", described((BROKER, "+01"), keys=["message.max.bytes"]))
    run.send("all brokers", described((BROKER, "")))


@scenario("describe_configs", first=3)
def documentation(run: ScenarioRun) -> None:
    resources = [(TOPIC, run.topic("a").name), (BROKER, "1"), (GROUP, run.group("g"))]
    keys = ["preallocate", "message.max.bytes", SESSION]
    run.send("requested", described(*resources, keys=keys, documentation=True))
    run.send("not requested", described(*resources, keys=keys))


@scenario("describe_configs")
def config_sources(run: ScenarioRun) -> None:
    topic = run.topic("a")
    default = "604800000"
    both = [(BROKER, ""), (BROKER, "1")]
    set_config(run, BROKER, "", RETENTION[0], "2000")
    run.send("for all brokers", described(*both, keys=RETENTION))
    of_topic = described((TOPIC, topic.name), keys=["retention.ms"])
    run.send("for all brokers, a topic", of_topic)
    set_config(run, BROKER, "1", RETENTION[0], "1000")
    run.send("for this broker", described(*both, keys=RETENTION))
    run.send("for this broker, a topic", of_topic)
    set_config(run, TOPIC, topic.name, "retention.ms", "500")
    run.send("for the topic", of_topic)
    reset_config(run, BROKER, "", RETENTION[0], None)
    run.send("no longer for all brokers", described(*both, keys=RETENTION))
    reset_config(run, BROKER, "1", RETENTION[0], None)
    reset_config(run, TOPIC, topic.name, "retention.ms", default)
    run.send("no value set", of_topic)


@scenario("describe_configs")
def groups(run: ScenarioRun) -> None:
    group = run.group("g")
    run.send("no config set", described((GROUP, group)))
    set_config(run, GROUP, group, SESSION, "50000")
    run.send("group configs", described((GROUP, group), keys=[SESSION, HEARTBEAT]))
    reset_config(run, GROUP, group, SESSION, "45000")
    run.send("no longer set", described((GROUP, group), keys=[SESSION, HEARTBEAT]))


@scenario("describe_configs")
def refusals(run: ScenarioRun) -> None:
    for step, kind, name in (
        ("an unknown topic", TOPIC, "no-such-topic"),
        ("an illegal topic", TOPIC, "a b"),
        ("a topic without a name", TOPIC, ""),
        ("another broker", BROKER, "7"),
        ("a broker id that is no number", BROKER, "x"),
        ("a broker id too large", BROKER, "99999999999"),
        ("a group without a name", GROUP, ""),
        ("loggers without a broker", LOGGER, ""),
        ("loggers of another broker", LOGGER, "7"),
        ("loggers, a broker id that is no number", LOGGER, "x"),
        ("metrics of clients", METRICS, "m"),
        ("metrics without a name", METRICS, ""),
        ("type 0", 0, "x"),
        ("type 1", 1, "x"),
        ("type 3", 3, "x"),
        ("type -1", -1, "x"),
    ):
        run.send(step, described((kind, name)))
    topic = run.topic("a")
    keys = ["retention.ms", "message.max.bytes"]
    mixed = [(TOPIC, topic.name), (TOPIC, "no-such-topic"), (BROKER, "1"), (BROKER, "7")]
    run.send("valid and invalid ones", described(*mixed, keys=keys))
    run.send("with an unknown type", described(*mixed, (99, "x"), keys=keys))
    run.send("nothing", described())


@scenario("describe_configs")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "describe_configs", b"")
    flexible = run.version >= 4
    null = b"\0" if flexible else b"\xff" * 4
    run.send_raw("null resources", "describe_configs", null + b"\0" * 3)
