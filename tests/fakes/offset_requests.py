"""Short builders of OffsetCommit, OffsetFetch, OffsetDelete and DeleteGroups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from interfaces.kafka.wire.messages.delete_groups import DeleteGroupsRequest
from interfaces.kafka.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
)
from interfaces.kafka.wire.messages.offset_delete import OffsetDeleteRequest
from interfaces.kafka.wire.messages.offset_fetch import OffsetFetchRequest
from tests.fakes.client import FakeClient
from tests.fakes.structs import Fields, build

FIRST_BY_ID = 10
FIRST_WITH_GROUPS = 8


def at(
    index: int, offset: int = 5, metadata: str | None = "", leader_epoch: int = -1
) -> OffsetCommitRequestPartition:
    return OffsetCommitRequestPartition(
        partition_index=index,
        committed_offset=offset,
        committed_leader_epoch=leader_epoch,
        committed_metadata=metadata,
    )


def commit(
    client: FakeClient,
    group_id: str,
    *topics: tuple[str | bytes, Iterable[OffsetCommitRequestPartition]],
    version: int = 9,
    **fields: Any,
) -> dict[str | bytes, list[tuple[int, int]]]:
    """Returns partition and error code by topic name or id."""
    return commit_codes(
        client.request(offset_commit(group_id, *topics, **fields), version), version
    )


def offset_commit(
    group_id: str,
    *topics: tuple[str | bytes, Iterable[OffsetCommitRequestPartition]],
    **fields: Any,
) -> OffsetCommitRequest:
    named = [{**_named(topic), "partitions": list(partitions)} for topic, partitions in topics]
    return build(OffsetCommitRequest, {"group_id": group_id, "topics": named, **fields})


def _named(topic: str | bytes) -> Fields:
    return {"topic_id" if isinstance(topic, bytes) else "name": topic}


def commit_codes(response: Any, version: int) -> dict[str | bytes, list[tuple[int, int]]]:
    names = [one.topic_id if version >= FIRST_BY_ID else one.name for one in response.topics]
    assert len(set(names)) == len(names), "a topic is returned twice"
    return {
        name: [(one.partition_index, one.error_code) for one in topic.partitions]
        for name, topic in zip(names, response.topics, strict=True)
    }


def fetch_group(
    client: FakeClient,
    group_id: str,
    topics: dict[Any, list[int]] | None = None,
    version: int = 9,
    require_stable: bool = False,
    member_id: str | None = None,
    member_epoch: int = -1,
) -> Any:
    """The response for one group in any version: `error_code` and `topics`."""
    named = None
    if topics is not None:
        named = [{**_named(one), "partition_indexes": indexes} for one, indexes in topics.items()]
    group = {"group_id": group_id, "topics": named}
    if version < FIRST_WITH_GROUPS:
        fields = {**group, "require_stable": require_stable}
        return client.request(build(OffsetFetchRequest, fields), version)
    member = {"member_id": member_id, "member_epoch": member_epoch}
    fields = {"groups": [{**group, **member}], "require_stable": require_stable}
    (response,) = client.request(build(OffsetFetchRequest, fields), version).groups
    assert response.group_id == group_id
    return response


def found(response: Any) -> dict[str | bytes, dict[int, tuple[int, int, str, int]]]:
    """Offset, leader epoch, metadata and code of each partition."""
    return {
        getattr(topic, "name", "") or topic.topic_id: {
            one.partition_index: (
                one.committed_offset,
                one.committed_leader_epoch,
                one.metadata,
                one.error_code,
            )
            for one in topic.partitions
        }
        for topic in response.topics
    }


def offsets_of(client: FakeClient, group_id: str) -> dict[str, dict[int, int]]:
    """All committed offsets of a group."""
    return {
        str(name): {index: one[0] for index, one in partitions.items()}
        for name, partitions in found(fetch_group(client, group_id)).items()
    }


def offset_delete(group_id: str, *topics: tuple[str, list[int]]) -> OffsetDeleteRequest:
    named = [
        {"name": name, "partitions": [{"partition_index": one} for one in indexes]}
        for name, indexes in topics
    ]
    return build(OffsetDeleteRequest, {"group_id": group_id, "topics": named})


def delete_groups(client: FakeClient, *group_ids: str, version: int = 2) -> list[tuple[str, int]]:
    response = client.request(DeleteGroupsRequest(groups_names=list(group_ids)), version)
    return [(one.group_id, one.error_code) for one in response.results]
