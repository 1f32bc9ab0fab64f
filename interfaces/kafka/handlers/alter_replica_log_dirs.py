"""AlterReplicaLogDirs (key 34), versions 1-2 (KIP-113).

2  flexible

There is one log dir, so a replica is moved to where it is. The last log dir of a partition counts.
"""

from __future__ import annotations

from collections.abc import Callable

from domain.errors import BrokerError
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDirPartitionResult,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    AlterReplicaLogDirTopicResult,
)


def handle(request: AlterReplicaLogDirsRequest, call: Call) -> AlterReplicaLogDirsResponse:
    def code_of(topic_name: str, index: int, path: str) -> int:
        try:
            call.broker.topics.log_dirs.move(topic_name, index, path)
        except BrokerError as refused:
            return call.code(refused)
        return 0

    response = _response(request, code_of)
    call.topics = len(response.results)
    return response


def failed(
    request: AlterReplicaLogDirsRequest, code: int, message: str | None, version: int
) -> AlterReplicaLogDirsResponse:
    return _response(request, lambda *_: code)


def _response(
    request: AlterReplicaLogDirsRequest, code_of: Callable[[str, int, str], int]
) -> AlterReplicaLogDirsResponse:
    topics: dict[str, dict[int, str]] = {}
    for log_dir in request.dirs:
        for topic in log_dir.topics:
            if topic.partitions:
                topics.setdefault(topic.name, {}).update(
                    dict.fromkeys(topic.partitions, log_dir.path)
                )
    return AlterReplicaLogDirsResponse(
        results=[
            AlterReplicaLogDirTopicResult(
                topic_name=name,
                partitions=[
                    AlterReplicaLogDirPartitionResult(
                        partition_index=index, error_code=code_of(name, index, path)
                    )
                    for index, path in paths.items()
                ],
            )
            for name, paths in topics.items()
        ]
    )
