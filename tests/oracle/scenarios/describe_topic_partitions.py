from __future__ import annotations

from interfaces.kafka.wire.messages.describe_topic_partitions import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from tests.oracle.requests import NOBODY, SHARES
from tests.oracle.scenario import scenario
from tests.oracle.teller import Teller


def asked(
    *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None
) -> DescribeTopicPartitionsRequest:
    return DescribeTopicPartitionsRequest(
        topics=[TopicRequest(name=name) for name in names],
        response_partition_limit=limit,
        cursor=None if cursor is None else Cursor(topic_name=cursor[0], partition_index=cursor[1]),
    )


@scenario("describe_topic_partitions")
def topics(tell: Teller) -> None:
    one, two = tell.topic("a"), tell.topic("b", 3)
    tell.ask("one", asked(one.name))
    tell.ask("not in their order", asked(two.name, one.name))
    tell.ask("twice", asked(one.name, one.name))
    tell.ask("unknown", asked(NOBODY.name))
    tell.ask("known and unknown", asked(NOBODY.name, two.name, one.name))
    tell.ask("an illegal name", asked("a b"))
    tell.ask("an empty name", asked(""))


@scenario("describe_topic_partitions")
def an_internal_topic(tell: Teller) -> None:
    tell.ask("not created yet", asked(SHARES))


@scenario("describe_topic_partitions")
def pages(tell: Teller) -> None:
    one, two = tell.topic("a", 2), tell.topic("b", 3)
    both = one.name, two.name
    for limit in (1, 2, 3, 5, 0, -1, 100_000):
        tell.ask(f"at most {limit}", asked(*both, limit=limit))
    tell.ask("an unknown one where the page ends", asked(*both, "zz-nobody", limit=5))
    for place in ((one.name, 0), (one.name, 1), (two.name, 0), (two.name, 2)):
        short = "a" if place[0] == one.name else "b"
        tell.ask(f"from {short} {place[1]}", asked(*both, cursor=place))
    tell.ask("from a partition that there is not", asked(*both, cursor=(one.name, 9)))
    tell.ask("from a negative partition", asked(*both, cursor=(one.name, -1)))
    tell.ask("from a topic that is not asked for", asked(two.name, cursor=(one.name, 0)))
    tell.ask("from one that is not asked for, later", asked(one.name, cursor=(two.name, 0)))
    tell.ask("from one that there is not", asked(*both, cursor=(NOBODY.name, 0)))
    tell.ask("a page within a topic", asked(*both, limit=1, cursor=(two.name, 1)))


@scenario("describe_topic_partitions")
def broken_requests(tell: Teller) -> None:
    tell.ask_raw("no body", "describe_topic_partitions", b"")
    tell.ask_raw("a cursor that is cut off", "describe_topic_partitions", b"\x01\0\0\0\x05\x01")
