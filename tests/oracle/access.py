"""Requests of clients with few rights, to a broker with the standard authorizer.

Listeners are PLAINTEXT and every client is User:ANONYMOUS: ACLs tell clients apart by their address
(SOURCES in scenario_run.py). The admin may do everything, the describer may Describe and
DescribeConfigs everything, the stranger nothing, `partial` everything with resources whose
names begin with `ok-`, and the follower may ClusterAction. Everything exists before the scenarios,
which change nothing but `ok-`.
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
from tests.fakes.plain_requests import plain_request
from tests.fakes.structs import request_for
from tests.oracle.access_requests import MIXED, NO_TOPIC, OTHER_TOPIC, OWN_TOPIC, PLAIN
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
OWN = "ok-"
TOPIC, GROUP, CLUSTER, TRANSACTIONAL_ID = 2, 3, 4, 5
ALL, DESCRIBE, CLUSTER_ACTION, DESCRIBE_CONFIGS = 2, 8, 9, 10
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
    follower = SOURCES["follower"]
    acls = [_acl(follower, CLUSTER, CLUSTER_ACTION, "kafka-cluster", LITERAL)]
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


def _follows(run: ScenarioRun) -> None:
    topics = [
        {"topic": name, "partitions": [{"partition": 0, "leader_epoch": 0}]}
        for name in (OTHER_TOPIC, NO_TOPIC)
    ]
    run.send("no topic", request_for("offset_for_leader_epoch", topics=topics), on="follower")


#: Topics that do not exist; of the internal ones Kafka has the first.
_ABSENT = {
    "stranger": ("__consumer_offsets", NO_TOPIC),
    "partial": ("__consumer_offsets", "ok-none"),
    "describer": (NO_TOPIC,),
}


def _looks_for_absent_topics(run: ScenarioRun) -> None:
    operations = {"include_topic_authorized_operations": True} if run.version >= 8 else {}
    for who, names in _ABSENT.items():
        topics = [{"name": one} for one in names]
        fields = {"topics": topics, "allow_auto_topic_creation": False, **operations}
        run.send(who, request_for("metadata", **fields), on=who)
    # It may describe them, and not create them.
    topics = [{"name": "__share_group_state"}, {"name": NO_TOPIC}]
    run.send("create", request_for("metadata", topics=topics, **operations), on="describer")


def access_scenarios() -> list[Scenario]:
    return [
        Scenario("metadata", "absent topics", tuple(range(4, 14)), _looks_for_absent_topics),
        Scenario("offset_for_leader_epoch", "follower", (2, 3, 4), _follows),
        *ACL_SCENARIOS,
        *(_few_rights(api) for api in APIS if api.name not in _FREE),
        *(_mixed(api) for api in APIS if api.name in MIXED),
    ]
