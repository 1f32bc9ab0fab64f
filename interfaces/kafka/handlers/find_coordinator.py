"""FindCoordinator (key 10), versions 0-6.

1  key type, for transactions      3  flexible      4  several keys (KIP-699)
5  TRANSACTION_ABORTABLE (KIP-890)      6  share groups (KIP-932)

The response has the address that this client's listener advertises. Keys of share groups are
checked and get their coordinator, though there are no share groups.
"""

from __future__ import annotations

import base64
import binascii

from domain.errors import ClusterAuthorizationFailed, CoordinatorNotAvailable, InvalidRequest
from domain.security.access import CLUSTER_NAME, Operation, ResourceType
from interfaces.kafka.handlers.shared.nodes import node_of
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)

GROUP, TRANSACTION, SHARE = 0, 1, 2
FIRST_WITH_MANY_KEYS = 4
FIRST_WITH_SHARE_GROUPS = 6
NO_NODE = -1

FAILED = {"node_id": NO_NODE, "port": NO_NODE}
#: Kafka's message for an unknown key type.
MALFORMED = (
    "This most likely occurs because of a request being malformed by the client library or the "
    "message was sent to an incompatible broker. See the broker logs for more details."
)
#: Of keys without the right, in versions with several.
NOT_AUTHORIZED = ""
#: Kafka's message of error 0, in versions with one key.
NO_ERROR = "NONE"


def handle(request: FindCoordinatorRequest, call: Call) -> FindCoordinatorResponse:
    if request.key_type not in (GROUP, TRANSACTION, SHARE):
        raise InvalidRequest(MALFORMED)
    if request.key_type == SHARE and not call.requires(
        Operation.CLUSTER_ACTION, ResourceType.CLUSTER, CLUSTER_NAME
    ):
        raise ClusterAuthorizationFailed()
    if call.version < FIRST_WITH_MANY_KEYS:
        if request.key_type == SHARE:
            raise InvalidRequest(MALFORMED)
        node_id, host, port = _node(request.key_type, request.key, call)
        return FindCoordinatorResponse(
            error_message=NO_ERROR, node_id=node_id, host=host, port=port
        )
    return FindCoordinatorResponse(
        coordinators=[_coordinator(request.key_type, key, call) for key in request.coordinator_keys]
    )


def _coordinator(key_type: int, key: str, call: Call) -> Coordinator:
    if key_type == SHARE and not (call.version >= FIRST_WITH_SHARE_GROUPS and _is_share_key(key)):
        return Coordinator(
            key=key, node_id=NO_NODE, port=NO_NODE, error_code=call.code(InvalidRequest())
        )
    try:
        node_id, host, port = _node(key_type, key, call)
    except CoordinatorNotAvailable as dead:
        return Coordinator(key=key, node_id=NO_NODE, port=NO_NODE, error_code=call.code(dead))
    return Coordinator(key=key, node_id=node_id, host=host, port=port)


def _node(key_type: int, key: str, call: Call) -> tuple[int, str, int]:
    broker = call.broker
    of_kind = broker.transactions if key_type == TRANSACTION else broker.groups
    node_id = of_kind.coordinators.node_id(key)
    if node_id == broker.placement.node_id:
        of_kind.coordinators.check_lease()
    found = node_of(node_id, call)
    if found is None:
        raise CoordinatorNotAvailable(f"Node {node_id} is not alive.")
    return node_id, *found[1]


def _is_share_key(key: str) -> bool:
    """The key is GROUP_ID:TOPIC_ID:PARTITION."""
    group_id, _, rest = key.partition(":")
    topic_id, _, partition = rest.rpartition(":")
    try:
        raw = base64.urlsafe_b64decode(topic_id + "==")
    except (ValueError, binascii.Error):
        return False
    return bool(group_id) and len(raw) == 16 and partition.isdecimal()
