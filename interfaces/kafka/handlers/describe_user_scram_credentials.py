"""DescribeUserScramCredentials (key 50), version 0 (KIP-554).

There are no users: the list of all users is empty, and a named user does not exist.
"""

from __future__ import annotations

from collections import Counter

from domain.errors import BrokerError, DuplicateResource, ResourceNotFound
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def handle(
    request: DescribeUserScramCredentialsRequest, call: Call
) -> DescribeUserScramCredentialsResponse:
    times = Counter(user.name for user in request.users or ())
    return DescribeUserScramCredentialsResponse(
        results=[_result(name, _refusal(name, count), call) for name, count in times.items()]
    )


def _refusal(name: str, count: int) -> BrokerError:
    if count > 1:
        return DuplicateResource(
            "Cannot describe SCRAM credentials for the same user twice in a single request: " + name
        )
    return ResourceNotFound(f"Attempt to describe a user credential that does not exist: {name}")


def _result(name: str, error: BrokerError, call: Call) -> DescribeUserScramCredentialsResult:
    return DescribeUserScramCredentialsResult(
        user=name, error_code=call.code(error), error_message=error.message
    )
