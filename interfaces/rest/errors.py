"""Failures as HTTP: one map from the domain's errors to a status and Confluent's kind of code.

Every failure has the body {"error_code", "message", "correlation_id"}; the code is the HTTP status,
or that with two more digits where it says more.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import NamedTuple

from starlette.exceptions import HTTPException

from domain import errors
from domain.errors import BrokerError
from interfaces.rest.sentences import SENTENCES

#: What is asked is not JSON at all.
NO_JSON = 40001


class Refusal(NamedTuple):
    status: int
    code: int


class RestError(HTTPException):
    """What the HTTP side itself refuses. FastAPI lets only its own kind through, from anywhere."""

    def __init__(self, status: int, message: str, code: int | None = None) -> None:
        super().__init__(status, message)
        self.code = code or status
        self.message = message


_BAD_REQUEST = Refusal(400, 40002)
_UNPROCESSABLE = Refusal(422, 42201)
_FENCED = Refusal(409, 40904)
_FORBIDDEN = Refusal(403, 40301)
_TRY_AGAIN = Refusal(503, 50302)

REFUSALS: dict[type[BrokerError], Refusal] = {
    BrokerError: Refusal(500, 50002),
    errors.InvalidRequest: _BAD_REQUEST,
    errors.UnsupportedVersion: _BAD_REQUEST,
    errors.MismatchedEndpointType: _BAD_REQUEST,
    errors.UnsupportedEndpointType: _BAD_REQUEST,
    errors.StorageFailed: Refusal(503, 50301),
    errors.SecurityDisabled: _BAD_REQUEST,
    errors.TopicAuthorizationFailed: _FORBIDDEN,
    errors.GroupAuthorizationFailed: _FORBIDDEN,
    errors.ClusterAuthorizationFailed: _FORBIDDEN,
    errors.ResourceNotFound: Refusal(404, 40407),
    errors.DuplicateResource: _BAD_REQUEST,
    errors.UnknownTopicOrPartition: Refusal(404, 40403),
    errors.UnknownTopicId: Refusal(404, 40403),
    errors.InvalidTopic: _BAD_REQUEST,
    errors.TopicAlreadyExists: _BAD_REQUEST,
    errors.InvalidPartitions: _BAD_REQUEST,
    errors.InvalidReplicationFactor: _BAD_REQUEST,
    errors.InvalidReplicaAssignment: _BAD_REQUEST,
    errors.InvalidConfig: _BAD_REQUEST,
    errors.TopicDeletionDisabled: _BAD_REQUEST,
    errors.PolicyViolation: _BAD_REQUEST,
    errors.ElectionNotNeeded: _BAD_REQUEST,
    errors.NoReassignmentInProgress: _BAD_REQUEST,
    errors.CorruptMessage: _BAD_REQUEST,
    errors.MessageTooLarge: Refusal(413, 41302),
    errors.InvalidRecord: _BAD_REQUEST,
    errors.InvalidTimestamp: _BAD_REQUEST,
    errors.InvalidRequiredAcks: _BAD_REQUEST,
    errors.UnsupportedCompressionType: _BAD_REQUEST,
    errors.OutOfOrderSequence: Refusal(409, 40905),
    errors.InvalidProducerEpoch: _FENCED,
    errors.TransactionalIdNotAuthorized: _FORBIDDEN,
    errors.OffsetOutOfRange: Refusal(400, 40003),
    errors.FencedLeaderEpoch: _FENCED,
    errors.UnknownLeaderEpoch: _FENCED,
    errors.FetchSessionNotFound: Refusal(404, 40405),
    errors.InvalidFetchSessionEpoch: _FENCED,
    errors.FetchSessionTopicIdError: _BAD_REQUEST,
    errors.CoordinatorLoadInProgress: _TRY_AGAIN,
    errors.CoordinatorNotAvailable: _TRY_AGAIN,
    errors.InvalidGroupId: _BAD_REQUEST,
    errors.GroupIdNotFound: Refusal(404, 40404),
    errors.NonEmptyGroup: Refusal(409, 40903),
    errors.GroupMaxSizeReached: Refusal(409, 40906),
    errors.GroupMetadataTooLarge: Refusal(413, 41303),
    errors.UnknownMemberId: Refusal(404, 40406),
    errors.MemberIdRequired: _BAD_REQUEST,
    errors.FencedInstanceId: _FENCED,
    errors.UnreleasedInstanceId: _FENCED,
    errors.IllegalGeneration: _FENCED,
    errors.FencedMemberEpoch: _FENCED,
    errors.StaleMemberEpoch: _FENCED,
    errors.InconsistentGroupProtocol: _BAD_REQUEST,
    errors.InvalidSessionTimeout: _BAD_REQUEST,
    errors.RebalanceInProgress: Refusal(409, 40907),
    errors.UnsupportedAssignor: _BAD_REQUEST,
    errors.InvalidRegularExpression: _BAD_REQUEST,
    errors.OffsetMetadataTooLarge: Refusal(413, 41304),
    errors.InvalidCommitOffsetSize: _BAD_REQUEST,
    errors.UnstableOffsetCommit: _TRY_AGAIN,
    errors.GroupSubscribedToTopic: Refusal(409, 40908),
}


def refusal_of(error: BrokerError) -> Refusal:
    return REFUSALS[type(error)]


def message_of(error: BrokerError) -> str:
    return error.message or SENTENCES[type(error)]


def phrase(status: int) -> str:
    """As Confluent's server words it where there is nothing more to say."""
    return f"HTTP {status} {HTTPStatus(status).phrase}"
