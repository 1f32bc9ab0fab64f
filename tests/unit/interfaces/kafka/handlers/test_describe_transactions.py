from __future__ import annotations

from domain.topics.internal_records import partition_of
from domain.topics.topic import OFFSETS_TOPIC
from tests.fakes.cluster_producer import ClusterProducer, ask
from tests.fakes.shared_store import SharedStore
from tests.fakes.structs import request_for


def test_a_group_has_the_partition_that_the_topic_gives_it() -> None:
    """Not the setting of the coordinator, which may differ from that of the broker before it."""
    shared = SharedStore()
    for node_id, partitions in ((1, 3), (2, 50)):
        shared.start(
            node_id,
            offsets_topic="on",
            offsets_topic_num_partitions=str(partitions),
            transaction_state_log_num_partitions="1",
            default_replication_factor="2",
        )
    shared.topic()
    shared.kill(1)
    shared.fence(1)
    producer = ClusterProducer(shared)
    assert producer.init() == 0
    assert producer.coordinator is shared.brokers[2]
    assert producer.commit_offset(shared.brokers[2], "group", 5) == {0}
    request = request_for("describe_transactions", transactional_ids=["tx"])
    [state] = ask(producer.coordinator, request, 0).transaction_states
    [topic] = state.topics
    assert partition_of("group", 3) != partition_of("group", 50)
    assert (topic.topic, topic.partitions) == (OFFSETS_TOPIC, [partition_of("group", 3)])
