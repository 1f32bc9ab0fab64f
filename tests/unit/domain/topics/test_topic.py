from __future__ import annotations

import pytest

from domain.errors import InvalidRequest, InvalidTopic
from domain.topics.topic import Topic, check_new_topic_name, check_topic_name


@pytest.mark.parametrize(
    ("name", "why"),
    [
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
def test_internal_topics_cannot_be_created(name: str, error: type[Exception]) -> None:
    with pytest.raises(error, match=f"Creation of internal topic {name} is prohibited."):
        check_new_topic_name(name)


def test_a_changed_topic_keeps_its_other_fields() -> None:
    topic = Topic("t", bytes(15) + b"\1", (4, 5), {"retention.ms": "1"})
    for changed, ids, configs in (
        (topic.grown((9,)), (4, 5, 9), topic.configs),
        (topic.configured({}), (4, 5), {}),
    ):
        assert (changed.name, changed.topic_id) == (topic.name, topic.topic_id)
        assert (changed.partition_ids, changed.configs) == (ids, configs)
    assert topic.partition_ids == (4, 5)
