"""DescribeLogDirs (key 35), versions 1-4 (KIP-113).

2  flexible        3  top-level error        4  size of the volume (KIP-827)

Unknown partitions are omitted. The only replica has no lag, and there are no future replicas.
"""

from __future__ import annotations

from application.partitions.log_dirs import LogDir
from domain.errors import ClusterAuthorizationFailed
from interfaces.kafka.requests.call import Call
from interfaces.kafka.requests.error_codes import CODES
from interfaces.kafka.wire.messages.describe_log_dirs import (
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
    DescribeLogDirsTopic,
)

FIRST_WITH_ERROR = 3


def handle(request: DescribeLogDirsRequest, call: Call) -> None:
    requested = None
    if request.topics is not None:
        call.topics = len(request.topics)
        requested = [(topic.topic, index) for topic in request.topics for index in topic.partitions]
    call.respond_later(call.broker.topics.log_dirs.describe(requested), _response)


def _response(described: LogDir) -> DescribeLogDirsResponse:
    topics: dict[str, DescribeLogDirsTopic] = {}
    for one in described.sizes:
        topic = topics.setdefault(one.topic, DescribeLogDirsTopic(name=one.topic))
        topic.partitions.append(
            DescribeLogDirsPartition(
                partition_index=one.partition_index,
                partition_size=one.size_bytes,
                offset_lag=0,
                is_future_key=False,
            )
        )
    result = DescribeLogDirsResult(
        error_code=0,
        log_dir=described.path,
        topics=list(topics.values()),
        total_bytes=described.space.total_bytes,
        usable_bytes=described.space.usable_bytes,
    )
    return DescribeLogDirsResponse(results=[result])


def failed(
    request: DescribeLogDirsRequest, code: int, message: str | None, version: int
) -> DescribeLogDirsResponse:
    if version >= FIRST_WITH_ERROR:
        return DescribeLogDirsResponse(error_code=code)
    if code == CODES[ClusterAuthorizationFailed]:
        return DescribeLogDirsResponse()
    return DescribeLogDirsResponse(
        results=[DescribeLogDirsResult(error_code=code, log_dir="", topics=[])]
    )
