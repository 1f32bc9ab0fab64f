"""A live group moves from one protocol to the other and back, member by member (KIP-848)."""

from __future__ import annotations

import pytest
from confluent_kafka import ConsumerGroupType

from tests.e2e.conftest import CreateTopic
from tests.e2e.groups.conftest import Join
from tests.e2e.groups.members import Flavour, wait_for_all, wait_for_shares
from tests.e2e.groups.numbers import Numbers
from tests.e2e.librdkafka import PATIENCE_S, admin

# Not librdkafka's cooperative-sticky: its user data looks like that of a custom assignor, and
# such groups cannot be upgraded, here as with Kafka.
CLASSIC = [
    Flavour("confluent", {"protocol": "classic", "assignor": "range"}),
    Flavour("java", {"protocol": "classic", "assignor": "CooperativeSticky"}),
]
CONSUMER = {
    "confluent": Flavour("confluent", {"protocol": "consumer"}),
    "java": Flavour("java", {"protocol": "consumer"}),
}


def kind(bootstrap: str, group: str) -> ConsumerGroupType:
    client = admin(bootstrap)
    listed = client.list_consumer_groups().result(PATIENCE_S).valid
    [found] = [one.type for one in listed if one.group_id == group]
    return ConsumerGroupType(found)


@pytest.mark.parametrize("classic", CLASSIC, ids=str)
def test_a_live_group_is_upgraded_and_downgraded(
    classic: Flavour, bootstrap: str, group: str, create_topic: CreateTopic, join: Join
) -> None:
    consumer = CONSUMER[classic.client]
    topic = create_topic(6)
    numbers = Numbers(bootstrap, topic, partitions=6)
    with numbers.flowing():
        old = [join(topic, flavour=classic) for _ in range(2)]
        wait_for_shares(old, topic, 6)
        assert kind(bootstrap, group) is ConsumerGroupType.CLASSIC

        new = [join(topic, flavour=consumer)]
        wait_for_shares(old + new, topic, 6)
        assert kind(bootstrap, group) is ConsumerGroupType.CONSUMER
        for member in old:
            member.leave()
            new.append(join(topic, flavour=consumer))
        wait_for_shares(new, topic, 6)

        back = [join(topic, flavour=classic)]
        wait_for_shares(new + back, topic, 6)
        assert kind(bootstrap, group) is ConsumerGroupType.CONSUMER
        for member in new:
            member.leave()
        back.append(join(topic, flavour=classic))
        wait_for_shares(back, topic, 6)
        assert kind(bootstrap, group) is ConsumerGroupType.CLASSIC
    wait_for_all(numbers.all(), old + new + back)
