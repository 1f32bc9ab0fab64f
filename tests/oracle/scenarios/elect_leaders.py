"""All partitions are not asked for: Kafka has those of every scenario before."""

from __future__ import annotations

from interfaces.kafka.wire.messages.elect_leaders import ElectLeadersRequest, TopicPartitions
from tests.oracle.requests import NOBODY
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller

PREFERRED, UNCLEAN = 0, 1


def of(name: str, *partitions: int) -> TopicPartitions:
    return TopicPartitions(topic=name, partitions=list(partitions))


def asked(*topics: TopicPartitions, kind: int = PREFERRED) -> ElectLeadersRequest:
    return ElectLeadersRequest(election_type=kind, topic_partitions=list(topics))


@scenario("elect_leaders")
def partitions(tell: Teller) -> None:
    topic, other = tell.topic("a", 2), tell.topic("b")
    tell.ask("one", asked(of(topic.name, 0)))
    tell.ask("two topics", asked(of(topic.name, 1, 0), of(other.name, 0)))
    tell.ask("none", asked())
    tell.ask("no partition", asked(of(topic.name)))
    tell.ask("an unknown partition", asked(of(topic.name, 0, 2)))
    tell.ask("a negative partition", asked(of(topic.name, -1)))
    tell.ask("an unknown topic", asked(of(NOBODY.name, 0)))
    tell.ask("an illegal name", asked(of("a b", 0)))
    tell.ask("an empty name", asked(of("", 0)))
    tell.ask("a topic twice", asked(of(topic.name, 0), of(topic.name, 1)))
    tell.ask("a partition twice", asked(of(topic.name, 0, 0)))


@scenario("elect_leaders", first=1)
def kinds_of_elections(tell: Teller) -> None:
    topic = tell.topic("a")
    tell.ask("unclean", asked(of(topic.name, 0, 1), kind=UNCLEAN))
    tell.ask("unclean, an unknown topic", asked(of(NOBODY.name, 0), kind=UNCLEAN))
    tell.ask("an unknown kind", asked(of(topic.name, 0), kind=2))
    tell.ask("an unknown kind, an unknown topic", asked(of(NOBODY.name, 0), kind=2))
    tell.ask("an unknown kind, none", asked(kind=2))
    tell.ask("a negative kind", asked(of(topic.name, 0), kind=-1))
    everything = ElectLeadersRequest(election_type=2, topic_partitions=None)
    tell.ask("an unknown kind, all partitions", everything)


@scenario("elect_leaders")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "elect_leaders", b"")
