from __future__ import annotations

import pytest

from application.ports.pending import Pending, later
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
from tests.fakes.answers import answers_of
from tests.fakes.broker import FakeBroker


def ask(fake: FakeBroker, *wanted: NewTopic, validate_only: bool = False) -> list[list[Created]]:
    return answers_of(fake.broker.topics.create_topics.create(list(wanted), validate_only))


def create(fake: FakeBroker, *wanted: NewTopic, validate_only: bool = False) -> list[Created]:
    answers = ask(fake, *wanted, validate_only=validate_only)
    fake.run()
    return answers[0]


def refusal(fake: FakeBroker, new: NewTopic) -> BrokerError:
    (answer,) = create(fake, new)
    assert isinstance(answer, BrokerError)
    assert fake.restarted().broker.catalog.topic(new.name) is None
    return answer


@pytest.fixture
def fake() -> FakeBroker:
    return FakeBroker()


# ---- what is made


def test_a_topic_is_there_once_it_is_durable(fake: FakeBroker) -> None:
    fake.commit.hold()
    answers = ask(fake, NewTopic("t", 3))
    fake.run()
    assert answers == []
    assert fake.broker.catalog.topic("t") is None
    fake.commit.let_go()
    ((topic,),) = answers
    assert isinstance(topic, Topic)
    assert fake.broker.catalog.topic("t") is topic
    assert len(topic.partition_ids) == 3


def test_partitions_of_the_store_are_never_shared(fake: FakeBroker) -> None:
    topics = create(fake, NewTopic("t", 3), NewTopic("u", 2))
    ids = [i for topic in topics if isinstance(topic, Topic) for i in topic.partition_ids]
    assert ids == [0, 1, 2, 3, 4]
    again = fake.restarted().topic("v", 1)
    assert again.partition_ids == (5,)


def test_without_a_number_the_brokers_defaults_hold() -> None:
    fake = FakeBroker(num_partitions="7")
    (topic,) = create(fake, NewTopic("t"))
    assert isinstance(topic, Topic)
    assert len(topic.partition_ids) == 7


def test_configs_are_kept(fake: FakeBroker) -> None:
    (topic,) = create(fake, NewTopic("t", configs={"retention.ms": "5"}))
    assert isinstance(topic, Topic)
    assert topic.configs == {"retention.ms": "5"}


def test_an_assignment_says_how_many_partitions_there_are(fake: FakeBroker) -> None:
    (topic,) = create(fake, NewTopic("t", assignments=[(1, [1]), (0, [1])]))
    assert isinstance(topic, Topic)
    assert len(topic.partition_ids) == 2


def test_one_answer_each_in_order(fake: FakeBroker) -> None:
    answers = create(fake, NewTopic("a"), NewTopic("b b"), NewTopic("c"))
    assert [type(one) for one in answers] == [Topic, InvalidTopic, Topic]


def test_when_nothing_can_be_made_nothing_is_committed(fake: FakeBroker) -> None:
    commits = fake.commit.count
    assert ask(fake, NewTopic("b b"))[0]
    assert ask(fake) == [[]]
    fake.run()
    assert fake.commit.count == commits


# ---- validate only


def test_what_is_only_validated_is_not_made(fake: FakeBroker) -> None:
    answers = create(fake, NewTopic("t", 3), NewTopic("b b"), validate_only=True)
    assert [type(one) for one in answers] == [Topic, InvalidTopic]
    assert len(fake.broker.catalog) == 0
    assert not fake.store.staged
    assert fake.topic("t").partition_ids == (0,)


# ---- refusals


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "x" * 250])
def test_an_illegal_name_is_refused(fake: FakeBroker, name: str) -> None:
    assert isinstance(refusal(fake, NewTopic(name)), InvalidTopic)


def test_a_topic_that_is_there_is_not_made_again(fake: FakeBroker) -> None:
    fake.topic("t")
    (answer,) = create(fake, NewTopic("t"))
    assert isinstance(answer, TopicAlreadyExists)
    assert str(answer) == "Topic 't' already exists."


def test_a_name_that_collides_is_refused(fake: FakeBroker) -> None:
    fake.topic("a.b_c")
    error = refusal(fake, NewTopic("a_b.c"))
    assert isinstance(error, InvalidTopic)
    assert str(error) == "Topic 'a_b.c' collides with existing topic: a.b_c"


@pytest.mark.parametrize("count", [0, -2, -(2**31)])
def test_a_number_of_partitions_that_cannot_be_is_refused(fake: FakeBroker, count: int) -> None:
    assert isinstance(refusal(fake, NewTopic("t", count)), InvalidPartitions)
    assert isinstance(refusal(fake, NewTopic("t", count, 3)), InvalidPartitions)


@pytest.mark.parametrize("factor", [0, -2, 2, 3])
def test_one_broker_holds_one_replica(fake: FakeBroker, factor: int) -> None:
    assert isinstance(refusal(fake, NewTopic("t", 1, factor)), InvalidReplicationFactor)


def test_a_default_of_more_replicas_cannot_be_had() -> None:
    fake = FakeBroker(default_replication_factor="3")
    assert isinstance(refusal(fake, NewTopic("t")), InvalidReplicationFactor)
    (topic,) = create(fake, NewTopic("u", 1, 1))
    assert isinstance(topic, Topic)


@pytest.mark.parametrize(
    ("new", "error"),
    [
        (NewTopic("t", 2, assignments=[(0, [1])]), InvalidRequest),
        (NewTopic("t", -1, 1, assignments=[(0, [1])]), InvalidRequest),
        (NewTopic("t", assignments=[(0, [1]), (0, [1])]), InvalidReplicaAssignment),
        (NewTopic("t", assignments=[(1, [1])]), InvalidReplicaAssignment),
        (NewTopic("t", assignments=[(0, [1]), (2, [1])]), InvalidReplicaAssignment),
        (NewTopic("t", assignments=[(0, [])]), InvalidReplicaAssignment),
        (NewTopic("t", assignments=[(0, [2])]), InvalidReplicaAssignment),
        (NewTopic("t", assignments=[(0, [1, 1])]), InvalidReplicaAssignment),
        (NewTopic("t", configs={"nope": "1"}), InvalidConfig),
        (NewTopic("t", configs={"retention.ms": "soon"}), InvalidConfig),
        (NewTopic("t", configs={"retention.ms": None}), InvalidConfig),
    ],
)
def test_what_contradicts_itself_is_refused(
    fake: FakeBroker, new: NewTopic, error: type[BrokerError]
) -> None:
    assert type(refusal(fake, new)) is error


def test_too_many_partitions_refuse_the_whole_request(fake: FakeBroker) -> None:
    for counts in ((10_001,), (6000, 4001), (1, 10_000), (2**31 - 1, 1)):
        names = [f"t{index}" for index in range(len(counts))]
        answers = create(fake, *map(NewTopic, names, counts))
        assert [type(one) for one in answers] == [PolicyViolation] * len(counts)
    assert len(fake.broker.catalog) == 0
    answers = create(fake, NewTopic("a", 9_999), NewTopic("b", 1))
    assert [type(one) for one in answers] == [Topic, Topic]


# ---- at the same time


def test_of_two_who_create_the_same_topic_one_is_told_that_it_exists(fake: FakeBroker) -> None:
    first, second = ask(fake, NewTopic("t", 1)), ask(fake, NewTopic("t", 2))
    fake.run()
    ((topic,),), ((refused,),) = first, second
    assert isinstance(topic, Topic)
    assert isinstance(refused, TopicAlreadyExists)
    assert fake.broker.catalog.topic("t") is topic


def test_a_topic_that_is_being_made_exists_once_that_is_durable(fake: FakeBroker) -> None:
    fake.commit.hold()
    ask(fake, NewTopic("t"))
    fake.run()
    answers = ask(fake, NewTopic("t"))
    assert answers == []
    fake.commit.let_go()
    fake.run()
    ((refused,),) = answers
    assert isinstance(refused, TopicAlreadyExists)


def test_a_topic_whose_making_fails_is_not_said_to_exist(fake: FakeBroker) -> None:
    fake.commit.hold()
    ask(fake, NewTopic("t"))
    fake.run()
    answers = ask(fake, NewTopic("t"), NewTopic("u"))
    fake.commit.let_fail()
    assert [type(one) for one in answers[0]] == [StorageFailed, StorageFailed]


@pytest.mark.parametrize("fails", [False, True])
def test_a_check_too_says_that_a_topic_exists_when_that_is_durable(
    fake: FakeBroker, fails: bool
) -> None:
    fake.commit.hold()
    ask(fake, NewTopic("t"))
    fake.run()
    checked = fake.broker.topics.create_topics.create(
        [NewTopic("t"), NewTopic("u")], validate_only=True
    )
    assert isinstance(checked, Pending)
    told: list[list[Created]] = []
    checked.then(told.append)
    fake.commit.let_fail() if fails else fake.commit.let_go()
    fake.run()
    ((about_t, about_u),) = told
    assert isinstance(about_t, StorageFailed if fails else TopicAlreadyExists)
    assert isinstance(about_u, Topic)
    assert fake.broker.catalog.topic("u") is None


def test_who_creates_it_automatically_gets_the_one_that_is_being_made(fake: FakeBroker) -> None:
    explicit = ask(fake, NewTopic("t", 3))
    got: list[list[Created]] = []
    for _ in range(2):
        later(fake.broker.topics.create_topics.create_automatically(["t"])).then(got.append)
    fake.run()
    assert got == explicit * 2


def test_a_failed_commit_is_told_to_everybody_who_waits(fake: FakeBroker) -> None:
    fake.commit.fail_next("no space left")
    explicit = ask(fake, NewTopic("t", 3), NewTopic("b b"))
    got: list[list[Created]] = []
    later(fake.broker.topics.create_topics.create_automatically(["t"])).then(got.append)
    fake.run()
    ((failed, invalid),) = explicit
    assert isinstance(failed, StorageFailed)
    assert isinstance(invalid, InvalidTopic)
    assert got == [[failed]]
    assert fake.broker.catalog.topic("t") is None
    (topic,) = create(fake, NewTopic("t", 2))
    assert isinstance(topic, Topic)
    assert topic.partition_ids == (3, 4), "ids that were staged once are not used again"


def test_a_topic_is_not_made_while_one_of_that_name_is_being_deleted(fake: FakeBroker) -> None:
    fake.broker.topics.delete_topics.delete([fake.topic("t")])
    answers = ask(fake, NewTopic("t"))
    fake.run()
    assert isinstance(answers[0][0], TopicAlreadyExists)
    assert isinstance(create(fake, NewTopic("t"))[0], Topic)


def test_the_name_of_kafkas_own_log_is_refused(fake: FakeBroker) -> None:
    assert isinstance(refusal(fake, NewTopic("__cluster_metadata", 1)), InvalidRequest)


# ---- configs without effect


@pytest.mark.parametrize("validate_only", [False, True])
def test_a_topic_whose_configs_have_no_effect_has_one_warning(
    fake: FakeBroker, validate_only: bool
) -> None:
    configs = {"segment.ms": "5", "retention.ms": "5", "max.message.bytes": "50"}
    create(
        fake,
        NewTopic("t", 1, configs=configs),
        NewTopic("u", 1, configs={"retention.ms": "-1"}),
        NewTopic("refused", 0, configs=configs),
        validate_only=validate_only,
    )
    assert fake.events.of("config_without_effect") == [
        {"resource": "topic", "name": "t", "configs": ["retention.ms", "segment.ms"]}
    ]
