from __future__ import annotations

import pytest

from application.ports.pending import Pending
from application.topics.metadata import Described, UnknownTopic
from domain.errors import BrokerError, UnknownTopicOrPartition
from domain.topics.topic import Topic
from tests.fakes.broker import FakeBroker
from tests.fakes.results import results_of


def topics(fake: FakeBroker, *names: str, may_create: bool = True) -> list[Described]:
    got = results_of(fake.broker.topics.metadata.topics(list(names), may_create))
    fake.run()
    return got[0]


def outcomes(found: list[Described]) -> list[int | type[BrokerError]]:
    """The number of partitions, or the error."""
    return [len(one.partition_ids) if isinstance(one, Topic) else type(one.error) for one in found]


@pytest.fixture
def fake() -> FakeBroker:
    fake = FakeBroker(num_partitions="4")
    fake.topic("t", 2)
    return fake


def test_an_unknown_topic_is_created_with_the_defaults_of_the_broker(fake: FakeBroker) -> None:
    assert outcomes(topics(fake, "new", "t")) == [4, 2]
    assert fake.broker.catalog.topic("new") is not None


def test_the_response_waits_until_the_topic_is_durable(fake: FakeBroker) -> None:
    fake.commit.hold()
    found = fake.broker.topics.metadata.topics(["new"], True)
    assert isinstance(found, Pending)
    fake.run()
    assert not found.resolved
    assert fake.broker.catalog.topic("new") is None
    fake.commit.let_go()
    assert found.resolved


def test_requests_for_the_same_new_topic_share_its_creation(fake: FakeBroker) -> None:
    pending = [fake.broker.topics.metadata.topics(["new"], True) for _ in range(3)]
    fake.run()
    found = [results_of(one)[0][0] for one in pending]
    assert len({topic.topic_id for topic in found}) == 1


@pytest.mark.parametrize("allowed_by", ["neither", "client", "broker"])
def test_no_topic_is_created_if_client_or_broker_forbids_it(allowed_by: str) -> None:
    broker_allows = "true" if allowed_by == "broker" else "false"
    fake = FakeBroker(auto_create_topics_enable=broker_allows)
    found = topics(fake, "new", may_create=allowed_by == "client")
    assert outcomes(found) == [UnknownTopicOrPartition]
    assert len(fake.broker.catalog) == 0


def test_too_many_new_topics_are_not_created() -> None:
    """As in Kafka, whose controller refuses the request of the broker."""
    fake = FakeBroker(num_partitions="3")
    few, many = ([f"{size}-{n}" for n in range(size)] for size in (3333, 3334))
    assert set(outcomes(topics(fake, *many))) == {UnknownTopicOrPartition}
    assert len(fake.broker.catalog) == 0
    topics(fake, *few)
    assert len(fake.broker.catalog) == 3333


def test_after_a_failed_commit_the_next_request_creates_the_topic(fake: FakeBroker) -> None:
    fake.commit.fail_next("no space left")
    (one,) = topics(fake, "new")
    assert isinstance(one, UnknownTopic)
    assert str(one.error) == "no space left"
    assert outcomes(topics(fake, "new")) == [4]
