"""THE formula of docs/memory.md: what the broker's own memory stays under by its settings.

Own memory is RssAnon: mapped pages of the store are the system's cache.
"""

from __future__ import annotations

from application.groups.classic_protocol import MAX_ISSUED_IDS
from application.topics.create import MAX_PARTITIONS_PER_REQUEST
from domain.configs.broker import BrokerConfig
from infrastructure.observability.log_stream import QUEUE_BYTES
from interfaces.kafka.connections.connection import PARKED_BYTES, READ_BUFFER_BYTES
from interfaces.kafka.handlers.offset_fetch import RESPONSE_BYTES

KIB, MIB = 1 << 10, 1 << 20

#: The interpreter, the modules, the compiled messages, and what malloc does not give back.
IDLE_BYTES = 64 * MIB
CONNECTION_BYTES = 8 * KIB
ELEMENT_BYTES = 2 * KIB
#: The answer to CreateTopics tells all configs of each topic.
CREATED_TOPIC_BYTES = 22 * KIB
#: Of a partition in a fetch session or a waiting fetch.
FETCHED_PARTITION_BYTES = 512


#: Of a request that is remembered, with the longest names that are remembered with it.
REMEMBERED_BYTES = 8 * KIB

#: Of an id that a member was given, with a group of which there is nothing else.
GIVEN_ID_BYTES = 2 * KIB
#: Of a member beside twice what it says of itself: as it is now and as it is being kept.
MEMBER_BYTES = 8 * KIB
#: Of an expression by which a member subscribes, compiled.
EXPRESSION_BYTES = MIB


def kept_bytes(members: int = 0, said: int = 0, offsets: int = 0, expressions: int = 0) -> int:
    """What clients have the broker keep: `said` by each member, `offsets` in all."""
    return (
        (MEMBER_BYTES + 2 * said) * members + 2 * offsets + (EXPRESSION_BYTES + said) * expressions
    )


def promised_bytes(config: BrokerConfig, connections: int, asking: int) -> int:
    """`asking`: of the connections, those that have sent anything that is not answered and read."""
    large_requests = max(config.queued_max_request_bytes, config.socket_request_max_bytes)
    coming_in = READ_BUFFER_BYTES
    parked = PARKED_BYTES + READ_BUFFER_BYTES
    one_answer = 2 * max(config.fetch_max_bytes, RESPONSE_BYTES)
    return (
        IDLE_BYTES
        + CONNECTION_BYTES * connections
        + (coming_in + parked) * asking
        + 2 * large_requests
        + 2 * config.queued_max_response_bytes
        + one_answer
        + ELEMENT_BYTES * config.request_elements_max
        + CREATED_TOPIC_BYTES * min(MAX_PARTITIONS_PER_REQUEST, config.request_elements_max)
        + 2 * FETCHED_PARTITION_BYTES * config.fetch_partitions_max
        + GIVEN_ID_BYTES * MAX_ISSUED_IDS
        + REMEMBERED_BYTES * config.requests_recent_max
        + QUEUE_BYTES
    )
