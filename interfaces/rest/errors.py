"""Failures as HTTP: the domain's errors as a status and an error code like Confluent's.

Every failure has the body {"error_code", "message", "correlation_id"}; the code is the HTTP status,
or the status with two more digits for the kind of failure.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import NamedTuple

from starlette.exceptions import HTTPException

from domain import errors
from domain.cluster.nodes import NO_LEADER
from domain.errors import BrokerError

#: A body or a record is not JSON.
NO_JSON = 40001
#: The client has to log in.
UNAUTHENTICATED = 40101


class Refusal(NamedTuple):
    status: int
    code: int


class RestError(HTTPException):
    """A refusal by REST itself. FastAPI lets only an HTTPException through, from anywhere."""

    def __init__(
        self,
        status: int,
        message: str,
        code: int | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(status, message, headers)
        self.code = code or status
        self.message = message


_FENCED = Refusal(409, 40904)
_FORBIDDEN = Refusal(403, 40301)
_TRY_AGAIN = Refusal(503, 50302)
#: Another broker has it; the message has its node id.
_ELSEWHERE = Refusal(421, 42101)
#: Of an error that is not listed: the request is wrong.
BAD_REQUEST = Refusal(400, 40002)

REFUSALS: dict[type[BrokerError], Refusal] = {
    BrokerError: Refusal(500, 50002),
    errors.StorageFailed: Refusal(503, 50301),
    errors.TopicAuthorizationFailed: _FORBIDDEN,
    errors.GroupAuthorizationFailed: _FORBIDDEN,
    errors.ClusterAuthorizationFailed: _FORBIDDEN,
    errors.TransactionalIdNotAuthorized: _FORBIDDEN,
    errors.ResourceNotFound: Refusal(404, 40407),
    errors.UnknownTopicOrPartition: Refusal(404, 40403),
    errors.UnknownTopicId: Refusal(404, 40403),
    errors.MessageTooLarge: Refusal(413, 41302),
    errors.InvalidProducerEpoch: _FENCED,
    errors.OffsetOutOfRange: Refusal(400, 40003),
    errors.RequestTimedOut: _TRY_AGAIN,
    errors.LeaderNotAvailable: _TRY_AGAIN,
    errors.NotEnoughReplicas: _TRY_AGAIN,
    errors.NotLeaderOrFollower: _ELSEWHERE,
    errors.CoordinatorLoadInProgress: _TRY_AGAIN,
    errors.CoordinatorNotAvailable: _TRY_AGAIN,
    errors.NotCoordinator: _ELSEWHERE,
    errors.ConcurrentTransactions: _TRY_AGAIN,
    errors.GroupIdNotFound: Refusal(404, 40404),
    errors.TransactionalIdNotFound: Refusal(404, 40405),
    errors.UnknownMemberId: Refusal(404, 40406),
    errors.NonEmptyGroup: Refusal(409, 40903),
    errors.GroupMetadataTooLarge: Refusal(413, 41303),
    errors.IllegalGeneration: _FENCED,
    errors.RebalanceInProgress: Refusal(409, 40907),
    errors.OffsetMetadataTooLarge: Refusal(413, 41304),
    errors.GroupSubscribedToTopic: Refusal(409, 40908),
}


def refusal_of(error: BrokerError) -> Refusal:
    if isinstance(error, errors.NotLeaderOrFollower) and error.leader.node_id == NO_LEADER.node_id:
        return _TRY_AGAIN
    return REFUSALS.get(type(error), BAD_REQUEST)


def message_of(error: BrokerError) -> str:
    """Without a message: Kafka's name of the error, in words."""
    if isinstance(error, errors.NonEmptyGroup) and not error.message:
        return "The group has members; stop them first."
    return error.message or re.sub("(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).capitalize()


def phrase(status: int) -> str:
    """The words of Confluent's server for a status without a further reason."""
    return f"HTTP {status} {HTTPStatus(status).phrase}"
