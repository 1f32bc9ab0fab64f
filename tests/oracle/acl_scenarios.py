"""What an admin gets for valid and invalid ACLs, from a broker with the standard authorizer."""

from __future__ import annotations

from typing import Any

from interfaces.kafka.wire.messages.create_acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
)
from interfaces.kafka.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from interfaces.kafka.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from tests.oracle.scenario import Scenario
from tests.oracle.scenario_run import ScenarioRun

_POLLS = 20_000
_VERSIONS = (1, 2, 3)
TOPIC, GROUP, CLUSTER = 2, 3, 4
ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
READ, DENY, ALLOW = 3, 2, 3


def _acl(run: ScenarioRun, name: str = "a", **changes: Any) -> AclCreation:
    fields: dict[str, Any] = {
        "resource_type": TOPIC,
        "resource_name": name,
        "resource_pattern_type": LITERAL,
        "principal": f"User:{run.api}-{run.version}",
        "host": "*",
        "operation": READ,
        "permission_type": ALLOW,
    }
    return AclCreation(**(fields | changes))


def _filter(run: ScenarioRun, **changes: Any) -> dict[str, Any]:
    return {
        "resource_type_filter": ANY,
        "resource_name_filter": None,
        "pattern_type_filter": ANY,
        "principal_filter": f"User:{run.api}-{run.version}",
        "host_filter": None,
        "operation": ANY,
        "permission_type": ANY,
    } | changes


def _wait(run: ScenarioRun, count: int) -> None:
    """Kafka responds before its authorizer knows a change."""
    found = -1
    for _ in range(_POLLS):
        response = run.call(DescribeAclsRequest(**_filter(run)), DescribeAclsResponse, 3)
        found = sum(len(one.acls) for one in response.resources)
        if found == count:
            return
    raise AssertionError(f"{found} ACLs, not {count}")


def _creates(run: ScenarioRun) -> None:
    run.send("an ACL", CreateAclsRequest(creations=[_acl(run)]))
    run.send("the same twice", CreateAclsRequest(creations=[_acl(run), _acl(run)]))
    invalid = {
        "any resource type": {"resource_type": ANY},
        "any pattern": {"resource_pattern_type": ANY},
        "match": {"resource_pattern_type": MATCH},
        "any operation": {"operation": ANY},
        "any permission": {"permission_type": ANY},
        "another cluster": {"resource_type": CLUSTER, "resource_name": "c"},
        "no name": {"resource_name": ""},
        "no type of principal": {"principal": "alice"},
        "no type but a colon": {"principal": ":alice"},
    }
    for step, changes in invalid.items():
        creations = [_acl(run, **changes), _acl(run, "b")]
        run.send(step, CreateAclsRequest(creations=creations))
    run.send("an unknown operation", CreateAclsRequest(creations=[_acl(run, operation=99)]))
    run.send("a type of a later Kafka", CreateAclsRequest(creations=[_acl(run, resource_type=99)]))


def _describes(run: ScenarioRun) -> None:
    acls = [
        _acl(run, "orders"),
        _acl(run, "ord", resource_pattern_type=PREFIXED, permission_type=DENY),
        _acl(run, "*", resource_type=GROUP),
    ]
    run.call(CreateAclsRequest(creations=acls), CreateAclsResponse, 3)
    _wait(run, len(acls))
    filters = {
        "by name": {"resource_type_filter": TOPIC, "resource_name_filter": "orders"},
        "by a name that is a prefix": {"resource_name_filter": "ord"},
        "literal": {"resource_name_filter": "orders", "pattern_type_filter": LITERAL},
        "that match a group": {
            "resource_type_filter": GROUP,
            "resource_name_filter": "g",
            "pattern_type_filter": MATCH,
        },
        "of an operation": {"operation": 4},
        "that deny": {"permission_type": DENY},
        "of a host": {"host_filter": "10.0.0.1"},
        "an unknown pattern": {"pattern_type_filter": 99},
    }
    for step, changes in filters.items():
        run.send(step, DescribeAclsRequest(**_filter(run, **changes)))


def _deletes(run: ScenarioRun) -> None:
    acls = [_acl(run, "orders"), _acl(run, "ord", resource_pattern_type=PREFIXED)]
    run.call(CreateAclsRequest(creations=acls), CreateAclsResponse, 3)
    _wait(run, len(acls))
    one = DeleteAclsFilter(**_filter(run, pattern_type_filter=LITERAL))
    none = DeleteAclsFilter(**_filter(run, resource_name_filter="none"))
    run.send("one filter twice, and one without a match", DeleteAclsRequest([one, none, one]))
    _wait(run, 1)
    run.send("deleted again", DeleteAclsRequest([one]))
    run.send("an unknown type", DeleteAclsRequest([DeleteAclsFilter(**_filter(run, operation=99))]))


ACL_SCENARIOS = [
    Scenario("create_acls", "admin", _VERSIONS, _creates),
    Scenario("describe_acls", "admin", _VERSIONS, _describes),
    Scenario("delete_acls", "admin", _VERSIONS, _deletes),
]
