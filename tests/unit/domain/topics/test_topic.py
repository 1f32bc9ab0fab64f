from __future__ import annotations

import pytest

from domain.errors import InvalidRequest, InvalidTopic
from domain.topics.topic import Topic, check_new_topic_name, check_topic_name, collision_key


@pytest.mark.parametrize("name", ["a", "A-b_c.9", "...", "-", "a" * 249, "__consumer_offsets"])
def test_a_legal_name_is_accepted(name: str) -> None:
    check_topic_name(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "the empty string is not allowed"),
        (".", r": '\.' is not allowed"),
        ("..", r": '\.\.' is not allowed"),
        ("a" * 250, "longer than the max allowed length 249"),
        ("a b", "ASCII alphanumerics"),
        ("a/b", "ASCII alphanumerics"),
        ("a\n", "ASCII alphanumerics"),
        ("ä", "ASCII alphanumerics"),
        ("a٣", "ASCII alphanumerics"),
        ("a\0", "ASCII alphanumerics"),
    ],
)
def test_an_illegal_name_is_refused_with_the_reason(name: str, why: str) -> None:
    with pytest.raises(InvalidTopic, match=why):
        check_topic_name(name)


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("__consumer_offsets", InvalidTopic),
        ("__transaction_state", InvalidTopic),
        ("__share_group_state", InvalidTopic),
        ("__cluster_metadata", InvalidRequest),
    ],
)
def test_no_client_creates_an_internal_topic(name: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"Creation of internal topic {name} is prohibited."):
        check_new_topic_name(name)


def test_names_collide_when_only_dots_and_underscores_differ() -> None:
    assert collision_key("a.b_c") == collision_key("a_b.c")
    assert collision_key("a.b") != collision_key("a-b")
    assert collision_key("a.b") != collision_key("A.b")


def test_a_topic_that_grows_keeps_all_but_its_partitions() -> None:
    topic = Topic("t", bytes(15) + b"\1", (4, 5), {"retention.ms": "1"})
    grown = topic.grown((9,))
    assert grown.partition_ids == (4, 5, 9)
    assert (grown.name, grown.topic_id, grown.configs) == (
        topic.name, topic.topic_id, topic.configs
    )  # fmt: skip
    assert topic.partition_ids == (4, 5)


def test_a_topic_with_other_configs_keeps_all_but_these() -> None:
    topic = Topic("t", bytes(15) + b"\1", (4,), {"retention.ms": "1"})
    changed = topic.configured({})
    assert (changed.configs, changed.topic_id, changed.partition_ids) == ({}, topic.topic_id, (4,))
