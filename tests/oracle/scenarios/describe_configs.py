from __future__ import annotations

from tests.fakes.config_requests import BROKER, GROUP, LOGGER, METRICS, TOPIC, described
from tests.oracle.configs import is_set, is_taken_back
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

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
def topics(tell: Teller) -> None:
    plain = tell.topic("a")
    own = tell.topic("b", retention_ms="1000", cleanup_policy="compact,delete", segment_ms="7")
    tell.ask("all", described((TOPIC, plain.name)))
    tell.ask("all, without synonyms", described((TOPIC, plain.name), synonyms=False))
    tell.ask("some of its own", described((TOPIC, own.name)))
    keys = ["retention.ms", "no.such.config", "cleanup.policy", "retention.ms"]
    tell.ask("named ones", described((TOPIC, own.name), keys=keys))
    tell.ask("an empty list of names", described((TOPIC, own.name), keys=[]))
    tell.ask("none that there is", described((TOPIC, own.name), keys=["no.such.config"]))
    twice = [(TOPIC, own.name), (TOPIC, plain.name), (TOPIC, own.name)]
    tell.ask("one twice", described(*twice, keys=["retention.ms"]))


@scenario("describe_configs")
def brokers(tell: Teller) -> None:
    tell.ask("this one", described((BROKER, "1"), keys=SETTINGS))
    tell.ask("as Java reads numbers", described((BROKER, "+01"), keys=["message.max.bytes"]))
    tell.ask("all brokers", described((BROKER, "")))


@scenario("describe_configs", first=3)
def documentation(tell: Teller) -> None:
    resources = [(TOPIC, tell.topic("a").name), (BROKER, "1"), (GROUP, tell.group("g"))]
    keys = ["preallocate", "message.max.bytes", SESSION]
    tell.ask("when asked for", described(*resources, keys=keys, documentation=True))
    tell.ask("when not", described(*resources, keys=keys))


@scenario("describe_configs")
def where_values_are_set(tell: Teller) -> None:
    topic = tell.topic("a")
    default = "604800000"
    both = [(BROKER, ""), (BROKER, "1")]
    is_set(tell, BROKER, "", RETENTION[0], "2000")
    tell.ask("for all brokers", described(*both, keys=RETENTION))
    of_topic = described((TOPIC, topic.name), keys=["retention.ms"])
    tell.ask("for all brokers, a topic", of_topic)
    is_set(tell, BROKER, "1", RETENTION[0], "1000")
    tell.ask("for this broker", described(*both, keys=RETENTION))
    tell.ask("for this broker, a topic", of_topic)
    is_set(tell, TOPIC, topic.name, "retention.ms", "500")
    tell.ask("for the topic", of_topic)
    is_taken_back(tell, BROKER, "", RETENTION[0], None)
    tell.ask("not for all brokers", described(*both, keys=RETENTION))
    is_taken_back(tell, BROKER, "1", RETENTION[0], None)
    is_taken_back(tell, TOPIC, topic.name, "retention.ms", default)
    tell.ask("nowhere", of_topic)


@scenario("describe_configs")
def groups(tell: Teller) -> None:
    group = tell.group("g")
    tell.ask("one that there is not", described((GROUP, group)))
    is_set(tell, GROUP, group, SESSION, "50000")
    tell.ask("its own", described((GROUP, group), keys=[SESSION, HEARTBEAT]))
    is_taken_back(tell, GROUP, group, SESSION, "45000")
    tell.ask("not any more", described((GROUP, group), keys=[SESSION, HEARTBEAT]))


@scenario("describe_configs")
def refusals(tell: Teller) -> None:
    for step, kind, name in (
        ("an unknown topic", TOPIC, "no-such-topic"),
        ("an illegal topic", TOPIC, "a b"),
        ("a topic without a name", TOPIC, ""),
        ("another broker", BROKER, "7"),
        ("a broker that is no number", BROKER, "x"),
        ("a broker with too large a number", BROKER, "99999999999"),
        ("a group without a name", GROUP, ""),
        ("loggers without a broker", LOGGER, ""),
        ("loggers of another broker", LOGGER, "7"),
        ("loggers of no number", LOGGER, "x"),
        ("metrics of clients", METRICS, "m"),
        ("metrics without a name", METRICS, ""),
        ("type 0", 0, "x"),
        ("type 1", 1, "x"),
        ("type 3", 3, "x"),
        ("type -1", -1, "x"),
    ):
        tell.ask(step, described((kind, name)))
    topic = tell.topic("a")
    keys = ["retention.ms", "message.max.bytes"]
    mixed = [(TOPIC, topic.name), (TOPIC, "no-such-topic"), (BROKER, "1"), (BROKER, "7")]
    tell.ask("good ones and bad ones", described(*mixed, keys=keys))
    tell.ask("an unknown type beside", described(*mixed, (99, "x"), keys=keys))
    tell.ask("nothing", described())


@scenario("describe_configs")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "describe_configs", b"")
    flexible = tell.version >= 4
    null = b"\0" if flexible else b"\xff" * 4
    tell.ask_raw("null resources", "describe_configs", null + b"\0" * 3)
