"""One plain request for each served API, in any of its versions.

It uses the topic `t`, by TOPIC_ID in versions with topic ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interfaces.kafka.wire.messages import (
    alter_partition_reassignments,
    api_versions,
    consumer_group_describe,
    consumer_group_heartbeat,
    create_acls,
    create_partitions,
    create_topics,
    delete_acls,
    delete_groups,
    delete_records,
    delete_topics,
    describe_acls,
    describe_client_quotas,
    describe_cluster,
    describe_groups,
    describe_log_dirs,
    describe_topic_partitions,
    describe_user_scram_credentials,
    elect_leaders,
    fetch,
    find_coordinator,
    init_producer_id,
    leave_group,
    list_config_resources,
    list_groups,
    list_offsets,
    list_partition_reassignments,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
)
from interfaces.kafka.wire.schema import Request
from tests.fakes.batches import record_batch
from tests.fakes.classic_requests import (
    heartbeat_request,
    join_request,
    leave_request,
    sync_request,
)
from tests.fakes.config_requests import SET, TOPIC, changed, described, replaced

TOPIC_ID = b"\7" * 16

REQUESTS: dict[str, Callable[[int], Request]] = {
    "produce": lambda version: produce.ProduceRequest(
        acks=-1,
        topic_data=[
            produce.TopicProduceData(
                name="t" if version < 13 else "",
                topic_id=TOPIC_ID if version >= 13 else bytes(16),
                partition_data=[
                    produce.PartitionProduceData(index=0, records=memoryview(record_batch(["a"])))
                ],
            )
        ],
    ),
    "fetch": lambda version: fetch.FetchRequest(
        topics=[
            fetch.FetchTopic(
                topic="t" if version < 13 else "",
                topic_id=TOPIC_ID if version >= 13 else bytes(16),
                partitions=[fetch.FetchPartition(partition=0)],
            )
        ],
    ),
    "list_offsets": lambda version: list_offsets.ListOffsetsRequest(
        topics=[
            list_offsets.ListOffsetsTopic(
                name="t", partitions=[list_offsets.ListOffsetsPartition(partition_index=0)]
            )
        ],
    ),
    "metadata": lambda version: metadata.MetadataRequest(
        topics=[metadata.MetadataRequestTopic(name="t")]
    ),
    "offset_commit": lambda version: offset_commit.OffsetCommitRequest(
        group_id="g",
        topics=[
            offset_commit.OffsetCommitRequestTopic(
                name="t" if version < 10 else "",
                topic_id=TOPIC_ID if version >= 10 else bytes(16),
                partitions=[
                    offset_commit.OffsetCommitRequestPartition(
                        partition_index=0, committed_offset=1, committed_metadata=None
                    )
                ],
            )
        ],
    ),
    "offset_fetch": lambda version: (
        offset_fetch.OffsetFetchRequest(
            groups=[offset_fetch.OffsetFetchRequestGroup(group_id="g", topics=None)]
        )
        if version >= 8
        else offset_fetch.OffsetFetchRequest(
            group_id="g",
            topics=[offset_fetch.OffsetFetchRequestTopic(name="t", partition_indexes=[0])],
        )
    ),
    "offset_delete": lambda version: offset_delete.OffsetDeleteRequest(
        group_id="g",
        topics=[
            offset_delete.OffsetDeleteRequestTopic(
                name="t",
                partitions=[offset_delete.OffsetDeleteRequestPartition(partition_index=0)],
            )
        ],
    ),
    "delete_groups": lambda version: delete_groups.DeleteGroupsRequest(groups_names=["g"]),
    "find_coordinator": lambda version: (
        find_coordinator.FindCoordinatorRequest(coordinator_keys=["g"])
        if version >= 4
        else find_coordinator.FindCoordinatorRequest(key="g")
    ),
    "join_group": lambda version: join_request(
        group_id="joined", instance_id="i" if version >= 5 else None
    ),
    "heartbeat": lambda version: heartbeat_request(1, "m"),
    "leave_group": lambda version: (
        leave_request(("m", None))
        if version >= 3
        else leave_group.LeaveGroupRequest(group_id="g", member_id="m")
    ),
    "sync_group": lambda version: sync_request(1, "m"),
    "describe_groups": lambda version: describe_groups.DescribeGroupsRequest(groups=["g"]),
    "list_groups": lambda version: list_groups.ListGroupsRequest(),
    "api_versions": lambda version: api_versions.ApiVersionsRequest(
        client_software_name="c", client_software_version="1"
    ),
    "create_topics": lambda version: create_topics.CreateTopicsRequest(
        topics=[create_topics.CreatableTopic(name="t", num_partitions=1, replication_factor=1)]
    ),
    "delete_topics": lambda version: (
        delete_topics.DeleteTopicsRequest(topics=[delete_topics.DeleteTopicState(name="t")])
        if version >= 6
        else delete_topics.DeleteTopicsRequest(topic_names=["t"])
    ),
    "delete_records": lambda version: delete_records.DeleteRecordsRequest(
        topics=[
            delete_records.DeleteRecordsTopic(
                name="t",
                partitions=[delete_records.DeleteRecordsPartition(partition_index=0, offset=0)],
            )
        ]
    ),
    "describe_log_dirs": lambda version: describe_log_dirs.DescribeLogDirsRequest(topics=None),
    "init_producer_id": lambda version: init_producer_id.InitProducerIdRequest(
        transactional_id=None
    ),
    "offset_for_leader_epoch": lambda version: offset_for_leader_epoch.OffsetForLeaderEpochRequest(
        topics=[
            offset_for_leader_epoch.OffsetForLeaderTopic(
                topic="t",
                partitions=[
                    offset_for_leader_epoch.OffsetForLeaderPartition(partition=0, leader_epoch=0)
                ],
            )
        ]
    ),
    "describe_configs": lambda version: described((TOPIC, "t")),
    "alter_configs": lambda version: replaced((TOPIC, "t", {"retention.ms": "1"})),
    "create_partitions": lambda version: create_partitions.CreatePartitionsRequest(
        topics=[create_partitions.CreatePartitionsTopic(name="t", count=2, assignments=None)]
    ),
    "incremental_alter_configs": lambda version: changed(
        (TOPIC, "t", [("retention.ms", SET, "1")])
    ),
    "describe_cluster": lambda version: describe_cluster.DescribeClusterRequest(),
    "list_config_resources": lambda version: list_config_resources.ListConfigResourcesRequest(),
    "describe_topic_partitions": lambda version: (
        describe_topic_partitions.DescribeTopicPartitionsRequest(
            topics=[describe_topic_partitions.TopicRequest(name="t")]
        )
    ),
    "consumer_group_heartbeat": lambda version: (
        consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
            group_id="g",
            member_id="m",
            rebalance_timeout_ms=1000,
            subscribed_topic_names=["t"],
            topic_partitions=[],
        )
    ),
    "consumer_group_describe": lambda version: consumer_group_describe.ConsumerGroupDescribeRequest(
        group_ids=["a-group-that-is-not"]
    ),
    "describe_acls": lambda version: describe_acls.DescribeAclsRequest(),
    "create_acls": lambda version: create_acls.CreateAclsRequest(
        creations=[create_acls.AclCreation(resource_name="t")]
    ),
    "delete_acls": lambda version: delete_acls.DeleteAclsRequest(
        filters=[delete_acls.DeleteAclsFilter(resource_name_filter="t")]
    ),
    "elect_leaders": lambda version: elect_leaders.ElectLeadersRequest(
        topic_partitions=[elect_leaders.TopicPartitions(topic="t", partitions=[0])]
    ),
    "alter_partition_reassignments": lambda version: (
        alter_partition_reassignments.AlterPartitionReassignmentsRequest(
            topics=[
                alter_partition_reassignments.ReassignableTopic(
                    name="t",
                    partitions=[alter_partition_reassignments.ReassignablePartition(replicas=[1])],
                )
            ]
        )
    ),
    "list_partition_reassignments": lambda version: (
        list_partition_reassignments.ListPartitionReassignmentsRequest()
    ),
    "describe_client_quotas": lambda version: describe_client_quotas.DescribeClientQuotasRequest(),
    "describe_user_scram_credentials": lambda version: (
        describe_user_scram_credentials.DescribeUserScramCredentialsRequest(users=None)
    ),
}


def plain_request(name: str, version: int, topic_id: bytes) -> Request:
    """Topic `t` has this id."""
    request: Any = REQUESTS[name](version)
    for data in getattr(request, "topic_data", None) or getattr(request, "topics", None) or ():
        if getattr(data, "topic_id", None) == TOPIC_ID:
            data.topic_id = topic_id
    found: Request = request
    return found
