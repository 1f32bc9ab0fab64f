from __future__ import annotations

from interfaces.kafka.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from tests.fakes.batches import GZIP, record_batch
from tests.oracle.requests import NOBODY, store
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def asked(*topics: tuple[str, list[int]]) -> DescribeLogDirsRequest:
    return DescribeLogDirsRequest(
        topics=[DescribableLogDirTopic(topic=name, partitions=them) for name, them in topics]
    )


@scenario("describe_log_dirs")
def sizes(tell: Teller) -> None:
    topic, other = tell.topic("a", 3), tell.topic("b")
    tell.ask("nothing in it", asked((topic.name, [0, 1, 2])))
    store(tell, topic, record_batch(["a", "b", "c"]), record_batch(["d"] * 100, codec=GZIP))
    store(tell, other, record_batch(["e"]))
    tell.ask("one", asked((topic.name, [0])))
    tell.ask("one that is empty", asked((topic.name, [1])))
    tell.ask("some", asked((topic.name, [2, 0])))
    tell.ask("two topics", asked((topic.name, [0, 1]), (other.name, [0])))
    tell.ask("all", DescribeLogDirsRequest(topics=None))


@scenario("describe_log_dirs")
def places_that_there_are_not(tell: Teller) -> None:
    topic = tell.topic("a", 2)
    tell.ask("a partition", asked((topic.name, [7, -1])))
    tell.ask("one that is there, too", asked((topic.name, [7, 1])))
    tell.ask("a topic", asked((NOBODY.name, [0, 1])))
    tell.ask("an illegal topic", asked(("a b", [0])))
    tell.ask("a topic without a name", asked(("", [0])))
    tell.ask("no partitions", asked((topic.name, [])))
    tell.ask("no topics", asked())


@scenario("describe_log_dirs")
def twice(tell: Teller) -> None:
    topic = tell.topic("a", 2)
    tell.ask("a partition", asked((topic.name, [1, 1, 0])))
    tell.ask("a topic", asked((topic.name, [1]), (topic.name, [0, 1])))


@scenario("describe_log_dirs")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "describe_log_dirs", b"")
    tell.ask_raw("half a body", "describe_log_dirs", b"\0\0\0\1\0")
