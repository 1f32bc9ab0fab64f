"""A decoded message as JSON: with placeholders, sorted lists, and without default values.

A field that is 0 or empty by default is omitted, so that versions without it look the same.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from typing import Any

from application.partitions.opened_batch import MAX_OPENED_BYTES
from domain.messages.batch import CODEC_MASK
from infrastructure.codecs.compression import BatchCompression
from interfaces.kafka.wire.fields import Field
from interfaces.kafka.wire.structs import Struct
from tests.fakes.config_requests import GROUP
from tests.oracle.placeholders import Placeholders, moment

#: The field that identifies an element of a list: the first of these that it has.
IDENTITIES = (
    "api_key",
    "name",
    "topic",
    "topic_name",
    "topic_id",
    "partition_index",
    "index",
    "broker_id",
    "group_id",
    "member_id",
    "key",
    "user",
    "producer_id",
    "mechanism",
)

#: Lists that Kafka fills from a hash table, or in an order without meaning.
UNORDERED = {
    ("AddPartitionsToTxnResponse", "results_by_topic_v3_and_below"),
    ("AddPartitionsToTxnResponse", "results_by_transaction"),
    ("AddPartitionsToTxnResult", "topic_results"),
    ("AddPartitionsToTxnTopicResult", "results_by_partition"),
    ("AlterClientQuotasResponse", "entries"),
    ("AlterReplicaLogDirTopicResult", "partitions"),
    ("AlterUserScramCredentialsResponse", "results"),
    ("AlterReplicaLogDirsResponse", "results"),
    ("CreatePartitionsResponse", "results"),
    ("Assignment", "topic_partitions"),
    ("CreateTopicsResponse", "topics"),
    ("DeleteGroupsResponse", "results"),
    ("DeleteRecordsResponse", "topics"),
    ("DeleteRecordsTopicResult", "partitions"),
    ("DeleteTopicsResponse", "responses"),
    ("DescribeClientQuotasResponse", "entries"),
    ("DescribeLogDirsResult", "topics"),
    ("DescribeLogDirsTopic", "partitions"),
    ("DescribeUserScramCredentialsResponse", "results"),
    ("DescribeUserScramCredentialsResult", "credential_infos"),
    ("DescribedGroup", "members"),
    ("EntryData", "entity"),
    ("EntryData", "values"),
    ("EntryResult", "entity"),
    ("JoinGroupResponse", "members"),
    ("ListGroupsResponse", "groups"),
    ("ListTransactionsResponse", "transaction_states"),
    ("ListTransactionsResponse", "unknown_state_filters"),
    ("ListOffsetsResponse", "topics"),
    ("ListOffsetsTopicResponse", "partitions"),
    ("FindCoordinatorResponse", "coordinators"),
    ("MetadataResponse", "topics"),
    ("MetadataResponseTopic", "partitions"),
    ("OffsetCommitResponse", "topics"),
    ("OffsetCommitResponseTopic", "partitions"),
    ("OffsetDeleteResponse", "topics"),
    ("OffsetDeleteResponseTopic", "partitions"),
    ("OffsetFetchResponse", "topics"),
    ("OffsetFetchResponseGroup", "topics"),
    ("OffsetFetchResponseTopic", "partitions"),
    ("OffsetFetchResponseTopics", "partitions"),
    ("PartitionResponse", "active_producers"),
    ("ProduceResponse", "responses"),
    ("TopicData", "partitions"),
    ("TopicPartitions", "partitions"),
    ("TransactionState", "topics"),
    ("TopicProduceResponse", "partition_responses"),
    ("WritableTxnMarkerResult", "topics"),
    ("WritableTxnMarkerTopicResult", "partitions"),
    ("WriteTxnMarkersResponse", "markers"),
}
#: Long unordered lists of names and texts: recorded as an object, which is shorter.
SHORT: dict[str, Callable[[Any], tuple[str, str]]] = {
    "ApiVersion": lambda one: (str(one.api_key), f"{one.min_version}-{one.max_version}"),
    "SupportedFeatureKey": lambda one: (one.name, f"{one.min_version}-{one.max_version}"),
    "FinalizedFeatureKey": lambda one: (
        one.name,
        f"{one.min_version_level}-{one.max_version_level}",
    ),
    "DescribeConfigsResourceResult": lambda one: (one.name, _described(one)),
    "CreatableTopicConfigs": lambda one: (
        one.name,
        f"{one.value} ({one.config_source}"
        f"{', read only' if one.read_only else ''}{', sensitive' if one.is_sensitive else ''})",
    ),
}
#: Numbers that depend on the broker's machine; their names replace them.
OF_THE_MACHINE = ("port", "total_bytes", "usable_bytes")
TIMES = (
    "transaction_start_time_ms",
    "timestamp",
    "last_timestamp",
    "log_append_time_ms",
    "last_fetch_timestamp",
    "last_caught_up_timestamp",
)
#: Fields of the metadata log, which grows with each scenario.
OF_METADATA = {
    ("QuorumPartition", "high_watermark"),
    ("ReplicaState", "log_end_offset"),
    ("ReplicaState", "replica_directory_id"),
}
MAX_HEX_BYTES = 48
_BATCH = struct.Struct(">qiibIhiqqqhii")
_BATCH_FIELDS = [
    "base_offset",
    "length",
    "leader_epoch",
    "magic",
    "crc",
    "attributes",
    "last_offset_delta",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "count",
]
_PRODUCER_ID = struct.Struct(">q")
_LOG_APPEND_TIME = 8


def _described(config: Any) -> str:
    """Documentation texts differ, so only their presence counts; null and "" are none."""
    places = "".join(f"; {one.name}={one.value} ({one.source})" for one in config.synonyms)
    return (
        f"{config.value} ({config.config_source}) type {config.config_type}"
        f"{', read only' if config.read_only else ''}{', sensitive' if config.is_sensitive else ''}"
        f"{', documented' if config.documentation else ''}{places}"
    )


def response_as_plain(response: Struct, version: int, placeholders: Placeholders) -> dict[str, Any]:
    _learn(response, placeholders)
    plain: dict[str, Any] = _struct(response, version, placeholders, True)
    return plain


def request_as_plain(request: Struct, placeholders: Placeholders) -> dict[str, Any]:
    """All fields that were set, also those that the version lacks: the same in most versions."""
    learn_from_request(request, placeholders)
    plain: dict[str, Any] = _struct(request, None, placeholders, False)
    return plain


def learn_from_request(request: Struct, placeholders: Placeholders) -> None:
    """Ids that a scenario invents have no placeholder."""
    placeholders.add_literals(_all_of(request, "topic_id"))
    placeholders.add_members_of_ours(_all_of(request, "member_id"))


def _learn(value: object, placeholders: Placeholders) -> None:
    if isinstance(value, list):
        for one in value:
            _learn(one, placeholders)
    elif isinstance(value, Struct):
        topic_id = getattr(value, "topic_id", None)
        if topic_id is not None:
            placeholders.add_id(topic_id, getattr(value, "name", None))
        placeholders.add_producer(getattr(value, "producer_id", -1))
        placeholders.add_member(getattr(value, "member_id", None) or "")
        for name in type(value).fields_:
            _learn(getattr(value, name), placeholders)


def _all_of(value: object, field: str) -> Iterator[Any]:
    if isinstance(value, list):
        for one in value:
            yield from _all_of(one, field)
    elif isinstance(value, Struct):
        for name in type(value).fields_:
            found = getattr(value, name)
            if name == field:
                yield found
            else:
                yield from _all_of(found, field)


def _struct(
    value: Struct, version: int | None, placeholders: Placeholders, is_response: bool
) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, field in type(value).fields_.items():
        found = getattr(value, name)
        if version is not None and not field.is_in(version):
            continue
        if type(value).__name__ == "ListGroupsResponse" and name == "groups":
            found = [one for one in found if placeholders.is_own(one.group_id)]
        if type(value).__name__ == "ListTransactionsResponse" and name == "transaction_states":
            found = [one for one in found if placeholders.is_own(one.transactional_id)]
        if type(value).__name__ == "DescribeLogDirsResult" and name == "topics":
            found = [one for one in found if placeholders.is_own(one.name)]
        is_default = not found and found == field.default
        if is_default and name not in IDENTITIES and not name.endswith("producer_id"):
            continue
        if (type(value).__name__, name) in OF_METADATA:
            plain[name] = f"<{name}>"
            continue
        plain[name] = _value(name, found, field, version, placeholders, is_response)
        if (type(value).__name__, name) in UNORDERED and isinstance(plain[name], list):
            plain[name].sort(key=identity)
    return plain


def identity(element: object) -> str:
    """Numbers as text of one width, so that they compare with texts."""
    if isinstance(element, int):
        return f"{element:06}"
    if isinstance(element, dict):
        if "entity" in element:  # of a quota
            return "".join(
                f"{identity(one)} {one.get('entity_name')} " for one in element["entity"]
            )
        for key in ("transactional_id", "entity_type", *IDENTITIES):
            found = element.get(key)
            if isinstance(found, int):
                return f"{found:06}"
            if found not in (None, "none"):
                return str(found)
    return ""


def _value(
    name: str,
    found: Any,
    field: Field,
    version: int | None,
    placeholders: Placeholders,
    is_response: bool,
) -> Any:
    if isinstance(found, list):
        if found and type(found[0]).__name__ == "ConfigResource":
            # Kafka lists the groups of earlier scenarios too.
            found = [
                one
                for one in found
                if one.resource_type != GROUP or placeholders.is_own(one.resource_name)
            ]
        if found and type(found[0]).__name__ in SHORT:
            return dict(sorted(SHORT[type(one).__name__](one) for one in found))
        return [
            _value(name, one, field.element, version, placeholders, is_response) for one in found
        ]
    if isinstance(found, Struct):
        return _struct(found, version, placeholders, is_response)
    if field.kind == "record_data" and found is not None:
        if is_response:
            return _records(memoryview(found), placeholders)
        return octets(_without_producer(bytes(found), placeholders))
    if field.kind == "uuid":
        return placeholders.topic_id(found)
    if isinstance(found, bytes):
        return octets(placeholders.octets(found))
    if isinstance(found, str):
        if is_response and name in ("cluster_id", "log_dir"):
            return f"<{name.removesuffix('_id')}>"
        return placeholders.text(found)
    if is_response and (
        name == "finalized_features_epoch" or (name in OF_THE_MACHINE and found > 0)
    ):
        return f"<{name}>"
    if name in TIMES:
        return moment(found)
    if name.endswith("producer_id") or name == "producer_id_filters":
        return placeholders.producer(found)
    return placeholders.session(found, is_response) if name == "session_id" else found


def _without_producer(batch: bytes, placeholders: Placeholders) -> bytes:
    """Removes the producer id that a broker assigned, and the checksum over it."""
    if len(batch) >= _BATCH.size:
        (producer_id,) = _PRODUCER_ID.unpack_from(batch, 43)
        if placeholders.is_producer(producer_id):
            return batch[:17] + bytes(4) + batch[21:43] + bytes(8) + batch[51:]
    return batch


def octets(data: bytes) -> str:
    if len(data) <= MAX_HEX_BYTES:
        return data.hex()
    return f"{len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()[:16]}"


def _records(data: memoryview, placeholders: Placeholders) -> list[dict[str, Any]]:
    """The header of each batch, and whether the last batch is cut off."""
    batches: list[dict[str, Any]] = []
    position = 0
    while position < len(data):
        left = len(data) - position
        if left < _BATCH.size:
            return [*batches, {"cut_off": True}]
        batch = dict(zip(_BATCH_FIELDS, _BATCH.unpack_from(data, position), strict=True))
        size = batch["length"] + 12
        if size > left:
            return [*batches, {"cut_off": True}]
        if batch["attributes"] & _LOG_APPEND_TIME or placeholders.is_producer(batch["producer_id"]):
            batch["crc"] = "<crc of this run>"
        for name in ("base_timestamp", "max_timestamp"):
            batch[name] = moment(batch[name])
        batch["producer_id"] = placeholders.producer(batch["producer_id"])
        batch = {key: value for key, value in batch.items() if value not in (0, -1)}
        records = data[position + _BATCH.size : position + size]
        batch["records"] = octets(bytes(records))
        if codec := batch.get("attributes", 0) & CODEC_MASK:
            opened = BatchCompression().decompress(codec, records, MAX_OPENED_BYTES)
            batch["opened"] = octets(opened)
        batches.append(batch)
        position += size
    return batches
