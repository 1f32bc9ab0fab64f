"""AlterUserScramCredentials (key 51), version 0 (KIP-554).

The client salts the passwords. One result per user: a user may be altered once in a request.
"""

from __future__ import annotations

from collections.abc import Mapping

from application.ports.pending import later
from application.security.users import Altered, Deletion, Upsertion
from domain.security.scram import ScramMechanism
from interfaces.kafka.requests.call import Call
from interfaces.kafka.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)

_MECHANISMS = {one.value: one for one in ScramMechanism}


def handle(request: AlterUserScramCredentialsRequest, call: Call) -> None:
    deletions = [Deletion(one.name, _MECHANISMS.get(one.mechanism)) for one in request.deletions]
    upsertions = [
        Upsertion(
            one.name,
            _MECHANISMS.get(one.mechanism),
            one.iterations,
            bytes(one.salt),
            bytes(one.salted_password),
        )
        for one in request.upsertions
    ]
    altered = call.broker.security.users.alter(deletions, upsertions, call.requester)
    call.respond_later(later(altered), lambda results: _response(results, call))


def failed(
    request: AlterUserScramCredentialsRequest, code: int, message: str | None, version: int
) -> AlterUserScramCredentialsResponse:
    """Each user of the request has the error, once."""
    names = [one.name for one in request.deletions] + [one.name for one in request.upsertions]
    return AlterUserScramCredentialsResponse(
        results=[
            AlterUserScramCredentialsResult(user=user, error_code=code, error_message=message)
            for user in dict.fromkeys(names)
        ]
    )


def _response(results: Mapping[str, Altered], call: Call) -> AlterUserScramCredentialsResponse:
    return AlterUserScramCredentialsResponse(
        results=[_result(user, altered, call) for user, altered in results.items()]
    )


def _result(user: str, altered: Altered, call: Call) -> AlterUserScramCredentialsResult:
    if altered is None:
        return AlterUserScramCredentialsResult(user=user, error_message=None)
    return AlterUserScramCredentialsResult(
        user=user, error_code=call.code(altered), error_message=altered.message or None
    )
