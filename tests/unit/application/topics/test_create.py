from __future__ import annotations

import pytest

from application.ports.pending import later
from application.topics.create import Created, NewTopic
from domain.errors import (
    BrokerError,
    InvalidConfig,
    InvalidPartitions,
    InvalidReplicaAssignment,
    InvalidReplicationFactor,
    InvalidRequest,
    InvalidTopic,
    PolicyViolation,
    StorageFailed,
    TopicAlreadyExists,
)
from domain.topics.topic import Topic
from tests.fakes.broker import FakeBroker


def begin(fake: FakeBroker, *topics: NewTopic, validate_only: bool = False) -> list[list[Created]]:
    """Filled when the results are there."""
    results: list[list[Created]] = []
    later(fake.broker.topics.create_topics.create(list(topics), validate_only)).then(results.append)
    return results


def create(fake: FakeBroker, *topics: NewTopic, validate_only: bool = False) -> list[Created]:
    results = begin(fake, *topics, validate_only=validate_only)
    fake.run()
    return results[0]


def created(fake: FakeBroker, new: NewTopic) -> Topic:
    (topic,) = create(fake, new)
    assert isinstance(topic, Topic)
    return topic


def being_created(fake: FakeBroker) -> None:
    """A topic whose commit is pending."""
    fake.commit.hold()
    begin(fake, NewTopic("t"))
    fake.run()


def refusal(fake: FakeBroker, new: NewTopic) -> BrokerError:
    (error,) = create(fake, new)
    assert isinstance(error, BrokerError)
    assert fake.restarted().broker.catalog.topic(new.name) is None
    return error


@pytest.fixture
def fake() -> FakeBroker:
    return FakeBroker()


# ---- created topics


def test_a_topic_exists_when_it_is_durable(fake: FakeBroker) -> None:
    fake.commit.hold()
    results = begin(fake, NewTopic("t", 3))
    fake.run()
    assert results == []
    assert fake.broker.catalog.topic("t") is None
    fake.commit.let_go()
    ((topic,),) = results
    assert isinstance(topic, Topic)
    assert fake.broker.catalog.topic("t") is topic
    assert len(topic.partition_ids) == 3


def test_partition_ids_are_unique(fake: FakeBroker) -> None:
    topics = create(fake, NewTopic("t", 3), NewTopic("u", 2))
    ids = [i for topic in topics if isinstance(topic, Topic) for i in topic.partition_ids]
    assert ids == [0, 1, 2, 3, 4]
    again = fake.restarted().topic("v", 1)
    assert again.partition_ids == (5,)


def test_without_a_partition_count_the_default_applies() -> None:
    fake = FakeBroker(num_partitions="7")
    assert len(created(fake, NewTopic("t")).partition_ids) == 7


def test_without_a_valid_topic_there_is_no_commit(fake: FakeBroker) -> None:
    commits = fake.commit.count
    assert begin(fake, NewTopic("b b"))[0]
    assert begin(fake) == [[]]
    fake.run()
    assert fake.commit.count == commits


def test_validate_only_creates_nothing(fake: FakeBroker) -> None:
    results = create(fake, NewTopic("t", 3), NewTopic("b b"), validate_only=True)
    assert [type(one) for one in results] == [Topic, InvalidTopic]
    assert len(fake.broker.catalog) == 0
    assert not fake.store.staged
    assert fake.topic("t").partition_ids == (0,)


def test_a_default_of_several_replicas_is_refused() -> None:
    fake = FakeBroker(default_replication_factor="3")
    assert isinstance(refusal(fake, NewTopic("t")), InvalidReplicationFactor)
    created(fake, NewTopic("u", 1, 1))


@pytest.mark.parametrize(
    ("new", "error"),
    [
        (NewTopic("b b"), InvalidTopic),
        (NewTopic("a.b_c"), TopicAlreadyExists),
        (NewTopic("t", 0), InvalidPartitions),
        (NewTopic("t", 1, 2), InvalidReplicationFactor),
        (NewTopic("t", 2, assignments=[(0, [1])]), InvalidRequest),
        (NewTopic("t", assignments=[(0, [1]), (0, [1])]), InvalidReplicaAssignment),
        (NewTopic("t", configs={"retention.ms": "soon"}), InvalidConfig),
    ],
)
def test_an_invalid_topic_is_refused(
    fake: FakeBroker, new: NewTopic, error: type[BrokerError]
) -> None:
    fake.topic("a.b_c")
    results = create(fake, NewTopic("first"), new, NewTopic("last"))
    assert [type(one) for one in results] == [Topic, error, Topic]
    assert fake.restarted().broker.catalog.names() == ["a.b_c", "first", "last"]


def test_too_many_partitions_refuse_the_whole_request(fake: FakeBroker) -> None:
    for counts in ((10_001,), (6000, 4001), (1, 10_000), (2**31 - 1, 1)):
        names = [f"t{index}" for index in range(len(counts))]
        results = create(fake, *map(NewTopic, names, counts))
        assert [type(one) for one in results] == [PolicyViolation] * len(counts)
    assert len(fake.broker.catalog) == 0
    results = create(fake, NewTopic("a", 9_999), NewTopic("b", 1))
    assert [type(one) for one in results] == [Topic, Topic]


# ---- at the same time


def test_of_two_requests_for_the_same_topic_one_succeeds(fake: FakeBroker) -> None:
    first, second = begin(fake, NewTopic("t", 1)), begin(fake, NewTopic("t", 2))
    fake.run()
    ((topic,),), ((error,),) = first, second
    assert isinstance(topic, Topic)
    assert isinstance(error, TopicAlreadyExists)
    assert fake.broker.catalog.topic("t") is topic


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("validate_only", [False, True])
def test_a_topic_that_is_being_created_exists_when_it_is_durable(
    fake: FakeBroker, fails: bool, validate_only: bool
) -> None:
    being_created(fake)
    results = begin(fake, NewTopic("t"), NewTopic("u"), validate_only=validate_only)
    assert results == []
    fake.commit.let_fail() if fails else fake.commit.let_go()
    fake.run()
    ((first, second),) = results
    assert isinstance(first, StorageFailed if fails else TopicAlreadyExists)
    assert isinstance(second, StorageFailed if fails and not validate_only else Topic)
    assert (fake.broker.catalog.topic("u") is not None) == (not fails and not validate_only)


def test_automatic_creation_returns_the_topic_that_is_being_created(fake: FakeBroker) -> None:
    explicit = begin(fake, NewTopic("t", 3))
    got: list[list[Created]] = []
    for _ in range(2):
        later(fake.broker.topics.create_topics.create_automatically(["t"])).then(got.append)
    fake.run()
    assert got == explicit * 2


def test_a_failed_commit_fails_all_pending_requests(fake: FakeBroker) -> None:
    fake.commit.fail_next("no space left")
    explicit = begin(fake, NewTopic("t", 3), NewTopic("b b"))
    got: list[list[Created]] = []
    later(fake.broker.topics.create_topics.create_automatically(["t"])).then(got.append)
    fake.run()
    ((failed, invalid),) = explicit
    assert (type(failed), type(invalid)) == (StorageFailed, InvalidTopic)
    assert got == [[failed]]
    assert fake.broker.catalog.topic("t") is None
    ids = created(fake, NewTopic("t", 2)).partition_ids
    assert ids == (3, 4), "ids that were staged once are not used again"


def test_a_topic_is_not_created_while_one_of_that_name_is_being_deleted(fake: FakeBroker) -> None:
    fake.broker.topics.delete_topics.delete([fake.topic("t")])
    results = begin(fake, NewTopic("t"))
    fake.run()
    assert isinstance(results[0][0], TopicAlreadyExists)
    assert isinstance(create(fake, NewTopic("t"))[0], Topic)


@pytest.mark.parametrize("validate_only", [False, True])
def test_a_topic_whose_configs_have_no_effect_has_one_warning(
    fake: FakeBroker, validate_only: bool
) -> None:
    configs = {"preallocate": "true", "file.delete.delay.ms": "5", "max.message.bytes": "50"}
    create(
        fake,
        NewTopic("t", 1, configs=configs),
        NewTopic("u", 1, configs={"retention.ms": "-1"}),
        NewTopic("refused", 0, configs=configs),
        validate_only=validate_only,
    )
    assert fake.events.of("config_without_effect") == [
        {"resource": "topic", "name": "t", "configs": ["file.delete.delay.ms", "preallocate"]}
    ]
