"""Requests of clients with few rights, to a broker with the standard authorizer.

Listeners are PLAINTEXT and every client is User:ANONYMOUS: ACLs tell clients apart by their address
(SOURCES in scenario_run.py). The admin may do everything, the describer may Describe and
DescribeConfigs everything, the stranger nothing, and `partial` everything with resources whose
names begin with `ok-`. Everything exists before the scenarios, which change nothing but `ok-`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from domain.configs.settings.access import STANDARD_AUTHORIZER
from interfaces.kafka.requests.apis import APIS, Api
from interfaces.kafka.wire.messages.create_acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
)
from interfaces.kafka.wire.messages.create_topics import (
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from interfaces.kafka.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from interfaces.kafka.wire.messages.metadata import MetadataRequest, MetadataResponse
from interfaces.kafka.wire.schema import Request
from tests.e2e.broker_process import Address
from tests.fakes.batches import record_batch
from tests.fakes.plain_requests import plain_request
from tests.fakes.structs import request_for
from tests.oracle.acl_scenarios import ACL_SCENARIOS
from tests.oracle.recording import Runs
from tests.oracle.scenario import Scenario
from tests.oracle.scenario_run import SOURCES, ScenarioRun

FOLDER = Path(__file__).parent / "recorded_access"
SETTINGS = (
    f"authorizer.class.name={STANDARD_AUTHORIZER}",
    "allow.everyone.if.no.acl.found=true",
)
ADMIN = "127.0.0.1"
OWN, OWN_TOPIC, OTHER_TOPIC, NO_TOPIC = "ok-", "ok-t", "t", "missing"
#: With node.id=1.
BROKER = "1"
TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID = 2, 3, 4, 5
ALL, DESCRIBE, DESCRIBE_CONFIGS = 2, 8, 10
ANY, ALLOW, LITERAL, PREFIXED = 1, 3, 3, 4
#: In place of a text with ids and addresses.
NOT_AUTHORIZED = "Request Request(...) is not authorized."
_ABOUT_CLUSTER = re.compile(r"Request (Request\(|[A-Za-z]+ is not authorized\.$)")
_POLLS = 20_000
#: Their responses without any right are those to everybody.
_FREE = {"api_versions"}


def _acl(host: str, resource_type: int, operation: int, name: str, pattern: int) -> AclCreation:
    return AclCreation(
        resource_type=resource_type,
        resource_name=name,
        resource_pattern_type=pattern,
        principal="User:ANONYMOUS",
        host=host,
        operation=operation,
        permission_type=ALLOW,
    )


def _acls() -> list[AclCreation]:
    acls = []
    for kind in (TOPIC, GROUP, TRANSACTIONAL_ID, CLUSTER):
        every = "kafka-cluster" if kind == CLUSTER else "*"
        acls.append(_acl(ADMIN, kind, ALL, every, LITERAL))
        acls.append(_acl(SOURCES["describer"], kind, DESCRIBE, every, LITERAL))
        if kind != TRANSACTIONAL_ID:
            acls.append(_acl(SOURCES["describer"], kind, DESCRIBE_CONFIGS, every, LITERAL))
        if kind != CLUSTER:
            acls.append(_acl(SOURCES["partial"], kind, ALL, OWN, PREFIXED))
    return acls


def prepare(address: Address) -> None:
    """The topics and the ACLs, once for each broker."""
    run = ScenarioRun(address, "access", "prepare", 0)
    topics = [
        CreatableTopic(name=name, num_partitions=1, replication_factor=1)
        for name in (OTHER_TOPIC, OWN_TOPIC)
    ]
    created = run.call(CreateTopicsRequest(topics=topics), CreateTopicsResponse, 5)
    assert [one.error_code for one in created.topics] == [0, 0], created
    for name in (OTHER_TOPIC, OWN_TOPIC):
        run.wait_for_partitions(name, 1)
    acls = _acls()
    results = run.call(CreateAclsRequest(creations=acls), CreateAclsResponse, 3).results
    assert {one.error_code for one in results} == {0}, results
    everything = DescribeAclsRequest(
        resource_type_filter=ANY,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )
    for _ in range(_POLLS):
        found = run.call(everything, DescribeAclsResponse, 3)
        if sum(len(one.acls) for one in found.resources) == len(acls):
            break
    else:
        raise AssertionError(f"the ACLs were never there: {found}")
    run.close()


def _learn_topics(run: ScenarioRun) -> dict[str, bytes]:
    response = run.call(MetadataRequest(topics=None), MetadataResponse, 12)
    ids = {one.name: one.topic_id for one in response.topics}
    for name in (OTHER_TOPIC, OWN_TOPIC):
        run.placeholders.add_id(ids[name], name)
    return ids


def _request_of(api: Api, run: ScenarioRun, ids: dict[str, bytes]) -> Request:
    request: Any = plain_request(api.name, run.version, ids[OTHER_TOPIC])
    if api.name in PLAIN:
        fields = PLAIN[api.name]
        request = request_for(api.name, **(fields(run.version) if callable(fields) else fields))
    return _patient(request)


def _patient(request: Any) -> Request:
    """Kafka does not wait for its controller without a timeout."""
    if hasattr(request, "timeout_ms"):
        request.timeout_ms = 30_000
    patient: Request = request
    return patient


def _few_rights(api: Api) -> Scenario:
    def script(run: ScenarioRun) -> None:
        ids = _learn_topics(run)
        for who in ("stranger", "describer"):
            run.send(who, _request_of(api, run, ids), on=who)

    versions = tuple(range(api.first_served, api.max_version + 1))
    return Scenario(api.name, "few rights", versions, script)


def _topics(version: int, ids: dict[str, bytes], first_by_id: int, **rest: Any) -> list[Any]:
    key = rest.pop("key", "name")
    if version >= first_by_id:
        return [{"topic_id": ids[name], **rest} for name in (OTHER_TOPIC, OWN_TOPIC)]
    return [{key: name, **rest} for name in (OTHER_TOPIC, OWN_TOPIC, NO_TOPIC)]


_NO_ACL: dict[str, Any] = {
    "resource_type_filter": 2,
    "resource_name_filter": "none",
    "pattern_type_filter": 3,
    "principal_filter": None,
    "host_filter": None,
    "operation": 3,
    "permission_type": 3,
}
#: In place of requests that are not valid, or whose responses have more than the rights.
PLAIN: dict[str, Any] = {
    # The describer may not create the missing topic.
    "metadata": lambda version: {
        "topics": [{"name": OTHER_TOPIC}, {"name": NO_TOPIC}],
        "allow_auto_topic_creation": True,
        **({"include_topic_authorized_operations": True} if version >= 8 else {}),
        **({"include_cluster_authorized_operations": True} if 8 <= version <= 10 else {}),
    },
    "describe_cluster": {"include_cluster_authorized_operations": True},
    "describe_groups": lambda version: {
        "groups": ["g"],
        **({"include_authorized_operations": True} if version >= 3 else {}),
    },
    "describe_acls": _NO_ACL,
    "delete_acls": {"filters": [_NO_ACL]},
    "create_acls": {
        "creations": [
            {
                "resource_type": 2,
                "resource_name": "t",
                "resource_pattern_type": 3,
                "principal": "User:a",
                "host": "*",
                "operation": 3,
                "permission_type": 3,
            }
        ]
    },
    "describe_configs": {
        "resources": [
            {
                "resource_type": 2,
                "resource_name": "t",
                "configuration_keys": ["retention.ms"],
            }
        ]
    },
    "describe_user_scram_credentials": {"users": [{"name": "a"}]},
}
NEVER = 99
#: What `partial` sends, by API: about its own resource, and those of others.
MIXED: dict[str, Any] = {
    "produce": lambda v, ids: {
        "acks": -1,
        "topic_data": [
            {**one, "partition_data": [{"index": 0, "records": memoryview(record_batch(["a"]))}]}
            for one in _topics(v, ids, 13)
        ],
    },
    "fetch": lambda v, ids: {
        "max_wait_ms": 0,
        "topics": _topics(v, ids, 13, key="topic", partitions=[{"partition": 0}]),
    },
    "list_offsets": lambda v, ids: {
        "topics": _topics(v, ids, NEVER, partitions=[{"partition_index": 0, "timestamp": -2}])
    },
    "metadata": lambda v, ids: (
        {"topics": [] if v == 0 else None}
        if v < 12
        else {"topics": [{"topic_id": ids[one], "name": None} for one in (OTHER_TOPIC, OWN_TOPIC)]}
    ),
    "offset_commit": lambda v, ids: {
        "group_id": "ok-g",
        "topics": _topics(
            v,
            ids,
            10,
            partitions=[{"partition_index": 0, "committed_offset": 0, "committed_metadata": None}],
        ),
    },
    "offset_fetch": lambda v, ids: (
        {"group_id": "ok-g", "topics": _topics(v, ids, NEVER, partition_indexes=[0])}
        if v < 8
        else {
            "groups": [
                {"group_id": "ok-g", "topics": _topics(v, ids, 10, partition_indexes=[0])},
                {"group_id": "g", "topics": None},
            ]
        }
    ),
    "find_coordinator": lambda v, ids: (
        {"key": "g"} if v < 4 else {"coordinator_keys": ["ok-g", "g"]}
    ),
    "describe_groups": lambda v, ids: {"groups": ["g", "ok-none"]},
    "delete_groups": lambda v, ids: {"groups_names": ["g", "ok-none"]},
    "create_topics": lambda v, ids: {
        "validate_only": True,
        "topics": [
            {"name": one, "num_partitions": 1, "replication_factor": 1}
            for one in ("new", "ok-new", OTHER_TOPIC, OWN_TOPIC)
        ],
    },
    "delete_topics": lambda v, ids: (
        {"topic_names": [OTHER_TOPIC, NO_TOPIC, "ok-none"]}
        if v < 6
        else {"topics": [{"name": OTHER_TOPIC}, {"name": NO_TOPIC}, {"name": "ok-none"}]}
    ),
    "delete_records": lambda v, ids: {
        "topics": _topics(v, ids, NEVER, partitions=[{"partition_index": 0, "offset": 0}])
    },
    "offset_for_leader_epoch": lambda v, ids: {
        "topics": _topics(
            v, ids, NEVER, key="topic", partitions=[{"partition": 0, "leader_epoch": 0}]
        )
    },
    "add_partitions_to_txn": lambda v, ids: (
        {
            "v3_and_below_transactional_id": "ok-tx",
            "v3_and_below_topics": _topics(v, ids, NEVER, partitions=[0]),
        }
        if v < 4
        else {}
    ),
    "add_offsets_to_txn": lambda v, ids: {"transactional_id": "ok-tx", "group_id": "g"},
    "txn_offset_commit": lambda v, ids: {
        "transactional_id": "ok-tx",
        "group_id": "ok-g",
        "topics": [
            {
                "name": OTHER_TOPIC,
                "partitions": [{"partition_index": 0, "committed_metadata": None}],
            }
        ],
    },
    "describe_configs": lambda v, ids: {
        "resources": [
            {"resource_type": kind, "resource_name": name, "configuration_keys": ["retention.ms"]}
            for kind, name in (
                (2, OTHER_TOPIC),
                (2, OWN_TOPIC),
                (2, NO_TOPIC),
                (4, BROKER),
                (32, "g"),
            )
        ]
    },
    "alter_configs": lambda v, ids: {
        "validate_only": True,
        "resources": [
            {"resource_type": kind, "resource_name": name, "configs": []}
            for kind, name in ((2, OTHER_TOPIC), (2, OWN_TOPIC), (4, BROKER), (32, "g"))
        ],
    },
    "incremental_alter_configs": lambda v, ids: {
        "validate_only": True,
        "resources": [
            {"resource_type": kind, "resource_name": name, "configs": []}
            for kind, name in ((2, OTHER_TOPIC), (2, OWN_TOPIC), (4, BROKER), (32, "g"))
        ],
    },
    "create_partitions": lambda v, ids: {
        "validate_only": True,
        "topics": _topics(v, ids, NEVER, count=2, assignments=None),
    },
    "offset_delete": lambda v, ids: {
        "group_id": "ok-g",
        "topics": _topics(v, ids, NEVER, partitions=[{"partition_index": 0}]),
    },
    "describe_producers": lambda v, ids: {"topics": _topics(v, ids, NEVER, partition_indexes=[0])},
    "describe_transactions": lambda v, ids: {"transactional_ids": ["tx", "ok-none"]},
    "describe_topic_partitions": lambda v, ids: {
        "topics": [{"name": one} for one in (OTHER_TOPIC, OWN_TOPIC, NO_TOPIC)],
        "response_partition_limit": 10,
    },
    "consumer_group_describe": lambda v, ids: {"group_ids": ["g", "ok-none"]},
    "consumer_group_heartbeat": lambda v, ids: {
        "group_id": "ok-c",
        "member_id": "m",
        "rebalance_timeout_ms": 1000,
        "subscribed_topic_names": [OWN_TOPIC, OTHER_TOPIC],
        "topic_partitions": [],
    },
    "init_producer_id": lambda v, ids: {"transactional_id": "tx", "transaction_timeout_ms": 1000},
}


def _mixed(api: Api) -> Scenario:
    def script(run: ScenarioRun) -> None:
        ids = _learn_topics(run)
        fields = MIXED[api.name](run.version, ids)
        run.send("partial", _patient(request_for(api.name, **fields)), on="partial")

    versions = tuple(range(api.first_served, api.max_version + 1))
    return Scenario(api.name, "some rights", versions, script)


def run_all(scenarios: Iterable[Scenario], address: Address) -> Runs:
    prepare(address)
    return {
        (one.title, version): [
            exchange._replace(response=_steady(exchange.response))
            for exchange in one.run(address, version)
        ]
        for one in scenarios
        for version in one.versions
    }


def _steady(value: Any) -> Any:
    """Kafka's messages about the cluster have its whole request, with addresses; ours its name."""
    if isinstance(value, dict):
        return {name: _steady(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_steady(one) for one in value]
    if isinstance(value, str) and _ABOUT_CLUSTER.match(value):
        return NOT_AUTHORIZED
    return value


def access_scenarios() -> list[Scenario]:
    return [
        *ACL_SCENARIOS,
        *(_few_rights(api) for api in APIS if api.name not in _FREE),
        *(_mixed(api) for api in APIS if api.name in MIXED),
    ]
