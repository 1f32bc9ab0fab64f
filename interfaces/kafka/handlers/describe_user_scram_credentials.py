"""DescribeUserScramCredentials (key 50), version 0 (KIP-554).

No names, an empty list as well as null, means all users.
"""

from __future__ import annotations

from domain.errors import BrokerError
from domain.security.scram import Credentials
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsRequest,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)


def handle(
    request: DescribeUserScramCredentialsRequest, call: Call
) -> DescribeUserScramCredentialsResponse:
    names = [user.name for user in request.users or ()]
    described = call.broker.security.users.describe(names)
    return DescribeUserScramCredentialsResponse(
        results=[_result(name, found, call) for name, found in described.items()]
    )


def _result(
    name: str, found: Credentials | BrokerError, call: Call
) -> DescribeUserScramCredentialsResult:
    if isinstance(found, BrokerError):
        return DescribeUserScramCredentialsResult(
            user=name, error_code=call.code(found), error_message=found.message
        )
    return DescribeUserScramCredentialsResult(
        user=name,
        credential_infos=[
            CredentialInfo(mechanism=one.mechanism.value, iterations=one.iterations)
            for one in found.values()
        ],
    )
