"""No request for all partitions: Kafka has those of earlier scenarios."""

from __future__ import annotations

from interfaces.kafka.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from tests.oracle.requests import UNKNOWN_TOPIC
from tests.oracle.scenario import scenario
from tests.oracle.scenario_run import ScenarioRun

PREFERRED, UNCLEAN = 0, 1


def of(name: str, *partitions: int) -> TopicPartitions:
    return TopicPartitions(topic=name, partitions=list(partitions))


def request(*topics: TopicPartitions, kind: int = PREFERRED) -> ElectLeadersRequest:
    return ElectLeadersRequest(election_type=kind, topic_partitions=list(topics))


@scenario("elect_leaders")
def partitions(run: ScenarioRun) -> None:
    topic, other = run.topic("a", 2), run.topic("b")
    run.send("one", request(of(topic.name, 0)))
    run.send("two topics", request(of(topic.name, 1, 0), of(other.name, 0)))
    run.send("none", request())
    run.send("no partition", request(of(topic.name)))
    run.send("an unknown partition", request(of(topic.name, 0, 2)))
    run.send("a negative partition", request(of(topic.name, -1)))
    run.send("an unknown topic", request(of(UNKNOWN_TOPIC.name, 0)))
    run.send("an illegal name", request(of("a b", 0)))
    run.send("an empty name", request(of("", 0)))
    run.send("a topic twice", request(of(topic.name, 0), of(topic.name, 1)))
    run.send("a partition twice", request(of(topic.name, 0, 0)))


@scenario("elect_leaders", first=1)
def kinds_of_elections(run: ScenarioRun) -> None:
    topic = run.topic("a")
    run.send("unclean", request(of(topic.name, 0, 1), kind=UNCLEAN))
    run.send("unclean, an unknown topic", request(of(UNKNOWN_TOPIC.name, 0), kind=UNCLEAN))
    run.send("an unknown kind", request(of(topic.name, 0), kind=2))
    run.send("an unknown kind, an unknown topic", request(of(UNKNOWN_TOPIC.name, 0), kind=2))
    run.send("an unknown kind, none", request(kind=2))
    run.send("a negative kind", request(of(topic.name, 0), kind=-1))
    everything = ElectLeadersRequest(election_type=2, topic_partitions=None)
    run.send("an unknown kind, all partitions", everything)


@scenario("elect_leaders")
def broken_requests(run: ScenarioRun) -> None:
    run.send_raw("no body", "elect_leaders", b"")
