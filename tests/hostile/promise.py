"""THE formula of docs/internals/memory.md: the bound of the broker's own memory by its settings.

Own memory is RssAnon: mapped pages of the store are the system's cache.
"""

from __future__ import annotations

from application.groups.classic_protocol import MAX_ISSUED_IDS
from application.topics.create import MAX_PARTITIONS_PER_REQUEST
from domain.configs.broker import BrokerConfig
from infrastructure.observability.log_stream import QUEUE_BYTES
from interfaces.connections.framing import READ_BUFFER_BYTES
from interfaces.connections.tls import PASS_BYTES, READ_BYTES, SLICE_BYTES, UNSENT_BYTES
from interfaces.kafka.connections.connection import PARKED_BYTES
from interfaces.kafka.handlers.offset_fetch import RESPONSE_BYTES

KIB, MIB = 1 << 10, 1 << 20

#: The interpreter, the modules, the compiled messages, and what malloc does not give back.
IDLE_BYTES = 64 * MIB
CONNECTION_BYTES = 8 * KIB
#: OpenSSL's part of a connection, and of one that is in its handshake.
TLS_BYTES, HANDSHAKE_BYTES = 40 * KIB, 64 * KIB
ELEMENT_BYTES = 2 * KIB
#: The response to CreateTopics has all configs of each topic.
CREATED_TOPIC_BYTES = 22 * KIB
#: Of a partition in a fetch session or a waiting fetch.
FETCHED_PARTITION_BYTES = 512


#: Of a recent request, with names of the largest length.
RECENT_REQUEST_BYTES = 8 * KIB

#: Of an issued member id, with an otherwise empty group.
ISSUED_ID_BYTES = 2 * KIB
#: Of a member, besides its metadata twice: in memory and in the commit.
MEMBER_BYTES = 8 * KIB
#: Of an expression by which a member subscribes, compiled.
EXPRESSION_BYTES = MIB


def persisted_bytes(
    members: int = 0, metadata: int = 0, offsets: int = 0, expressions: int = 0
) -> int:
    """Persisted state: `metadata` of each member, `offsets` in all."""
    return (
        (MEMBER_BYTES + 2 * metadata) * members
        + 2 * offsets
        + (EXPRESSION_BYTES + metadata) * expressions
    )


def tls_bytes(config: BrokerConfig, connections: int, active: int) -> int:
    """What TLS adds: `connections` whose handshake has begun, `active` as below."""
    handshakes = min(connections, config.ssl_handshakes_max)
    moving = 2 * READ_BYTES + 2 * SLICE_BYTES + UNSENT_BYTES + PASS_BYTES
    return HANDSHAKE_BYTES * handshakes + TLS_BYTES * connections + moving * active


def promised_bytes(config: BrokerConfig, connections: int, active: int) -> int:
    """`active`: connections with a request whose response is not read yet."""
    large_requests = max(config.queued_max_request_bytes, config.socket_request_max_bytes)
    receiving = READ_BUFFER_BYTES
    parked = PARKED_BYTES + READ_BUFFER_BYTES
    one_response = 2 * max(config.fetch_max_bytes, RESPONSE_BYTES)
    return (
        IDLE_BYTES
        + CONNECTION_BYTES * connections
        + (receiving + parked) * active
        + 2 * large_requests
        + 2 * config.queued_max_response_bytes
        + one_response
        + ELEMENT_BYTES * config.request_elements_max
        + CREATED_TOPIC_BYTES * min(MAX_PARTITIONS_PER_REQUEST, config.request_elements_max)
        + 2 * FETCHED_PARTITION_BYTES * config.fetch_partitions_max
        + ISSUED_ID_BYTES * MAX_ISSUED_IDS
        + RECENT_REQUEST_BYTES * config.requests_recent_max
        + QUEUE_BYTES
    )
