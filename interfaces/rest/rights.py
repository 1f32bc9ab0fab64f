"""The table of rights: what each route needs, beside the decorators that give it its path.

A path below /v3/clusters/{cluster_id} has the row of its short path, /consumer-groups that of
/groups. An architecture test finds routes without a row.
"""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import Request

from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from interfaces.rest.exchange import exchange_of
from interfaces.rest.urls import V3


class Right(NamedTuple):
    operation: Operation
    resource_type: ResourceType
    #: The parameter of the path that names the resource; empty: the cluster.
    parameter: str = ""


class Access(NamedTuple):
    """`rights` are needed by the route as a whole."""

    rights: tuple[Right, ...] = ()
    is_open: bool = False


#: Without authentication: probes, and the files of the console, which hold no data.
OPEN = Access(is_open=True)
#: Every user who is authenticated.
ANYONE = Access()
#: Lists have what the principal may describe only.
FILTERED = Access()
#: The resource is in the body: the route asks itself (`interfaces/rest/access.py:require`).
BY_ROUTE = Access()


def _cluster(operation: Operation) -> Access:
    return Access((Right(operation, ResourceType.CLUSTER),))


def _topic(operation: Operation) -> Access:
    return Access((Right(operation, ResourceType.TOPIC, "topic_name"),))


def _group(operation: Operation) -> Access:
    return Access((Right(operation, ResourceType.GROUP, "group_id"),))


def _both(group: Access, topic: Access) -> Access:
    return Access((*group.rights, *topic.rights))


def _transaction(operation: Operation) -> Access:
    return Access((Right(operation, ResourceType.TRANSACTIONAL_ID, "transactional_id"),))


_READ, _WRITE, _DELETE = Operation.READ, Operation.WRITE, Operation.DELETE
_ALTER, _DESCRIBE = Operation.ALTER, Operation.DESCRIBE
_DESCRIBE_CONFIGS, _ALTER_CONFIGS = Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS
_DESCRIBE_CLUSTER, _ALTER_CLUSTER = _cluster(_DESCRIBE), _cluster(_ALTER)
_DESCRIBE_TOPIC, _DESCRIBE_GROUP = _topic(_DESCRIBE), _group(_DESCRIBE)

ROUTES: dict[str, Access] = {
    # health
    "GET /healthz": OPEN,
    "GET /readyz": OPEN,
    "GET /v1/status/ready": OPEN,
    "GET /version": ANYONE,
    "GET /openapi.json": ANYONE,
    "GET /connz": _DESCRIBE_CLUSTER,
    # console
    "GET /": OPEN,
    "GET /docs": OPEN,
    "GET /login": OPEN,
    "POST /login": OPEN,
    "POST /logout": ANYONE,
    "GET /session": ANYONE,
    "GET /console/{name:path}": OPEN,
    "GET /console/data/topics": FILTERED,
    "GET /console/data/topics/{topic_name}": _DESCRIBE_TOPIC,
    "GET /console/data/partitions": BY_ROUTE,
    "GET /console/data/consumers": BY_ROUTE,
    "GET /console/data/groups": FILTERED,
    "GET /console/data/groups/{group_id}": _DESCRIBE_GROUP,
    "GET /console/data/overview": _DESCRIBE_CLUSTER,
    # metrics
    "GET /metrics": _DESCRIBE_CLUSTER,
    "GET /requestz": _DESCRIBE_CLUSTER,
    "GET /history": _DESCRIBE_CLUSTER,
    "GET /topics/{topic_name}/history": _DESCRIBE_TOPIC,
    "GET /groups/{group_id}/history": _DESCRIBE_GROUP,
    # brokers: as in Kafka, whose metadata has them for all clients
    "GET /v3/clusters": ANYONE,
    f"GET {V3}": ANYONE,
    "GET /brokers": ANYONE,
    "GET /brokers/{broker_id}": ANYONE,
    "GET /brokers/{broker_id}/partition-replicas": FILTERED,
    # configs
    "GET /configs": _cluster(_DESCRIBE_CONFIGS),
    "GET /configs/topics": ANYONE,
    "GET /topics/{topic_name}/configs": _topic(_DESCRIBE_CONFIGS),
    "POST /topics/{topic_name}/configs:alter": _topic(_ALTER_CONFIGS),
    "GET /topics/{topic_name}/configs/{name}": _topic(_DESCRIBE_CONFIGS),
    "PUT /topics/{topic_name}/configs/{name}": _topic(_ALTER_CONFIGS),
    "DELETE /topics/{topic_name}/configs/{name}": _topic(_ALTER_CONFIGS),
    "GET /brokers/{broker_id}/configs": _cluster(_DESCRIBE_CONFIGS),
    "POST /brokers/{broker_id}/configs:alter": _cluster(_ALTER_CONFIGS),
    "GET /brokers/{broker_id}/configs/{name}": _cluster(_DESCRIBE_CONFIGS),
    "PUT /brokers/{broker_id}/configs/{name}": _cluster(_ALTER_CONFIGS),
    "DELETE /brokers/{broker_id}/configs/{name}": _cluster(_ALTER_CONFIGS),
    "GET /broker-configs": _cluster(_DESCRIBE_CONFIGS),
    "POST /broker-configs:alter": _cluster(_ALTER_CONFIGS),
    "GET /broker-configs/{name}": _cluster(_DESCRIBE_CONFIGS),
    "PUT /broker-configs/{name}": _cluster(_ALTER_CONFIGS),
    "DELETE /broker-configs/{name}": _cluster(_ALTER_CONFIGS),
    # topics
    "GET /topics": FILTERED,
    "POST /topics": BY_ROUTE,
    "GET /topics/{topic_name}": _DESCRIBE_TOPIC,
    "PATCH /topics/{topic_name}": BY_ROUTE,
    "DELETE /topics/{topic_name}": _topic(_DELETE),
    "GET /topics/{topic_name}/retention": _DESCRIBE_TOPIC,
    "GET /topics/{topic_name}/compaction": _DESCRIBE_TOPIC,
    "GET /topics/{topic_name}/partitions": _DESCRIBE_TOPIC,
    "GET /topics/{topic_name}/partitions/-/reassignment": _DESCRIBE_TOPIC,
    "GET /topics/{topic_name}/partitions/{partition_id}": _DESCRIBE_TOPIC,
    "GET /topics/{topic_name}/partitions/{partition_id}/reassignment": _DESCRIBE_TOPIC,
    "GET /topics/{topic_name}/partitions/{partition_id}/offset": _DESCRIBE_TOPIC,
    "GET /topics/{topic_name}/partitions/{partition_id}/replicas": _DESCRIBE_TOPIC,
    "GET /topics/{topic_name}/partitions/{partition_id}/replicas/{broker_id}": _DESCRIBE_TOPIC,
    # records
    "GET /topics/{topic_name}/records": _topic(_READ),
    "GET /topics/{topic_name}/records:tail": _topic(_READ),
    "GET /topics/{topic_name}/records:download": _topic(_READ),
    "POST /topics/{topic_name}/records": _topic(_WRITE),
    "POST /topics/{topic_name}/records:batch": _topic(_WRITE),
    "POST /topics/{topic_name}:truncate": _topic(_DELETE),
    "POST /topics:truncate": BY_ROUTE,
    "POST /topics/{topic_name}:clone": _topic(_READ),
    # groups
    "GET /groups": FILTERED,
    "GET /groups/{group_id}": _DESCRIBE_GROUP,
    "DELETE /groups/{group_id}": _group(_DELETE),
    "GET /groups/{group_id}/consumers": _DESCRIBE_GROUP,
    "GET /groups/{group_id}/consumers/{consumer_id}": _DESCRIBE_GROUP,
    "GET /groups/{group_id}/consumers/{consumer_id}/assignments": _DESCRIBE_GROUP,
    "GET /groups/{group_id}/consumers/{consumer_id}/assignments/{topic_name}/partitions/"
    "{partition_id}": _both(_DESCRIBE_GROUP, _DESCRIBE_TOPIC),
    "GET /groups/{group_id}/lag-summary": _DESCRIBE_GROUP,
    "GET /groups/{group_id}/lags": _DESCRIBE_GROUP,
    "GET /groups/{group_id}/lags/{topic_name}/partitions/{partition_id}": _both(
        _DESCRIBE_GROUP, _DESCRIBE_TOPIC
    ),
    "POST /groups/{group_id}/offsets": _group(_READ),
    # transactions
    "GET /transactions": FILTERED,
    "GET /transactions/{transactional_id}": _transaction(_DESCRIBE),
    "POST /transactions/{transactional_id}:abort": _transaction(_WRITE),
    # users, ACLs and quotas: as Kafka's APIs
    "GET /users": _DESCRIBE_CLUSTER,
    "GET /users/{user_name}": _DESCRIBE_CLUSTER,
    "PUT /users/{user_name}": _ALTER_CLUSTER,
    "DELETE /users/{user_name}": _ALTER_CLUSTER,
    "GET /acls": _DESCRIBE_CLUSTER,
    "POST /acls": _ALTER_CLUSTER,
    "DELETE /acls": _ALTER_CLUSTER,
    "POST /acls:test": _DESCRIBE_CLUSTER,
    "GET /quotas": _cluster(_DESCRIBE_CONFIGS),
    "POST /quotas:alter": _cluster(_ALTER_CONFIGS),
    # control by tests
    "POST /test/faults": _ALTER_CLUSTER,
    "GET /test/faults": _DESCRIBE_CLUSTER,
    "DELETE /test/faults": _ALTER_CLUSTER,
    "DELETE /test/faults/{fault_id}": _ALTER_CLUSTER,
    "POST /test/coordinator": _ALTER_CLUSTER,
    "GET /test/clock": _DESCRIBE_CLUSTER,
    "POST /test/clock": _ALTER_CLUSTER,
    "POST /test/reset": _ALTER_CLUSTER,
    "POST /test/snapshots": _ALTER_CLUSTER,
    "POST /test/snapshots/{snapshot_id}/restore": _ALTER_CLUSTER,
    "DELETE /test/snapshots/{snapshot_id}": _ALTER_CLUSTER,
}

#: Paths of OPEN routes, for the gate, which runs before a request is routed.
_OPEN_PATHS = frozenset(
    api.partition(" ")[2] for api, access in ROUTES.items() if access.is_open and "{" not in api
)
_CONFLUENT_GROUPS = "/consumer-groups"
_FILES, _DATA = "/console/", "/console/data/"


def is_open(path: str) -> bool:
    is_file = path.startswith(_FILES) and not path.startswith(_DATA)
    return path in _OPEN_PATHS or is_file


def access_of(api: str) -> Access | None:
    """`api` as in GET /topics/{topic_name}; None: the route has no row."""
    method, _, path = api.partition(" ")
    if path.startswith(f"{V3}/"):
        path = path.removeprefix(V3)
    if path.startswith(_CONFLUENT_GROUPS):
        path = "/groups" + path.removeprefix(_CONFLUENT_GROUPS)
    return ROUTES.get(f"{method} {path}")


async def authorized(request: Request) -> None:
    """A dependency of every route: raises RestError without a right that its row needs."""
    exchange = exchange_of(request)
    route_path = getattr(request.scope["route"], "path", "")
    access = access_of(f"{request.method} {route_path}")
    if access is None:
        raise KeyError(route_path)  # never without a check
    for operation, resource_type, parameter in access.rights:
        name = request.path_params[parameter] if parameter else CLUSTER_NAME
        exchange.require(operation, resource_type, name)
