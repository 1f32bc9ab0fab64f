"""DeleteGroups (key 42), versions 0-2.

2  flexible

A group that is named twice has one result.
"""

from __future__ import annotations

from application.groups.delete import DeletedGroups
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)


def handle(request: DeleteGroupsRequest, call: Call) -> None:
    pending = call.broker.groups.delete_groups.delete(request.groups_names)
    call.respond_later(pending, lambda results: _response(results, call))


def _response(results: DeletedGroups, call: Call) -> DeleteGroupsResponse:
    return DeleteGroupsResponse(
        results=[
            DeletableGroupResult(
                group_id=group_id, error_code=0 if refused is None else call.code(refused)
            )
            for group_id, refused in results.items()
        ]
    )
