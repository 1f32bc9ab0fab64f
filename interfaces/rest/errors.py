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
_FENCED = Refusal(409, 40904)
_FORBIDDEN = Refusal(403, 40301)
_TRY_AGAIN = Refusal(503, 50302)

#: And the message of an error that has no words of its own.
REFUSALS: dict[type[BrokerError], tuple[Refusal, str]] = {
    BrokerError: (Refusal(500, 50002), "The broker could not do it."),
    errors.InvalidRequest: (_BAD_REQUEST, "The request contradicts itself."),
    errors.UnsupportedVersion: (_BAD_REQUEST, "A newer version is needed for this."),
    errors.MismatchedEndpointType: (
        _BAD_REQUEST,
        "This is not the kind of endpoint that was asked for.",
    ),
    errors.UnsupportedEndpointType: (_BAD_REQUEST, "There is no endpoint of this kind."),
    errors.StorageFailed: (Refusal(503, 50301), "The store could not keep or give what was asked."),
    errors.SecurityDisabled: (_BAD_REQUEST, "No authorizer is configured."),
    errors.TopicAuthorizationFailed: (_FORBIDDEN, "Not authorized for this topic."),
    errors.GroupAuthorizationFailed: (_FORBIDDEN, "Not authorized for this group."),
    errors.ClusterAuthorizationFailed: (_FORBIDDEN, "Not authorized for the cluster."),
    errors.ResourceNotFound: (Refusal(404, 40407), "The resource does not exist."),
    errors.DuplicateResource: (_BAD_REQUEST, "The resource is named more than once."),
    errors.UnknownTopicOrPartition: (
        Refusal(404, 40403),
        "There is no such topic, or no such partition of it.",
    ),
    errors.UnknownTopicId: (Refusal(404, 40403), "There is no topic with this id."),
    errors.InvalidTopic: (_BAD_REQUEST, "A topic cannot have this name."),
    errors.TopicAlreadyExists: (_BAD_REQUEST, "There is a topic of this name already."),
    errors.InvalidPartitions: (_BAD_REQUEST, "A topic cannot have this number of partitions."),
    errors.InvalidReplicationFactor: (_BAD_REQUEST, "There is one broker, and so one replica."),
    errors.InvalidReplicaAssignment: (
        _BAD_REQUEST,
        "Partitions can be assigned to this broker only.",
    ),
    errors.InvalidConfig: (_BAD_REQUEST, "A config has no such name or value."),
    errors.TopicDeletionDisabled: (_BAD_REQUEST, "Topics may not be deleted here."),
    errors.PolicyViolation: (_BAD_REQUEST, "A policy of this broker forbids it."),
    errors.ElectionNotNeeded: (_BAD_REQUEST, "Leader election not needed for topic partition."),
    errors.NoReassignmentInProgress: (_BAD_REQUEST, "No partition reassignment is in progress."),
    errors.CorruptMessage: (_BAD_REQUEST, "A record came damaged."),
    errors.MessageTooLarge: (Refusal(413, 41302), "A record is larger than this topic takes."),
    errors.InvalidRecord: (_BAD_REQUEST, "A record is not as this topic wants it."),
    errors.InvalidTimestamp: (_BAD_REQUEST, "The time of a record is too far from now."),
    errors.InvalidRequiredAcks: (_BAD_REQUEST, "acks can be 0, 1 or all."),
    errors.UnsupportedCompressionType: (
        _BAD_REQUEST,
        "Records are not compressed in a way that is known here.",
    ),
    errors.OutOfOrderSequence: (Refusal(409, 40905), "A record came out of its producer's order."),
    errors.InvalidProducerEpoch: (_FENCED, "A newer producer has taken this one's place."),
    errors.TransactionalIdNotAuthorized: (_FORBIDDEN, "There are no transactions here."),
    errors.OffsetOutOfRange: (Refusal(400, 40003), "The offset lies outside the log."),
    errors.LeaderNotAvailable: (_TRY_AGAIN, "The leader of this partition is not alive."),
    errors.NotLeaderOrFollower: (_TRY_AGAIN, "Another node leads this partition."),
    errors.FencedLeaderEpoch: (_FENCED, "The leader epoch is an old one."),
    errors.UnknownLeaderEpoch: (_FENCED, "The leader epoch is none that has been."),
    errors.FetchSessionNotFound: (Refusal(404, 40405), "There is no such fetch session."),
    errors.InvalidFetchSessionEpoch: (_FENCED, "The fetch session is at another epoch."),
    errors.FetchSessionTopicIdError: (_BAD_REQUEST, "A fetch session names its topics in one way."),
    errors.CoordinatorLoadInProgress: (
        _TRY_AGAIN,
        "Committed offsets are still being read; ask again.",
    ),
    errors.CoordinatorNotAvailable: (
        _TRY_AGAIN,
        "The group cannot be looked after just now; ask again.",
    ),
    errors.NotCoordinator: (_TRY_AGAIN, "Another node coordinates this group."),
    errors.InvalidGroupId: (_BAD_REQUEST, "A group cannot have this id."),
    errors.GroupIdNotFound: (Refusal(404, 40404), "There is no such group."),
    errors.NonEmptyGroup: (Refusal(409, 40903), "The group has members; stop them first."),
    errors.GroupMaxSizeReached: (
        Refusal(409, 40906),
        "The group has as many members as it may have.",
    ),
    errors.GroupMetadataTooLarge: (
        Refusal(413, 41303),
        "What the group's members say is too much to be kept.",
    ),
    errors.UnknownMemberId: (Refusal(404, 40406), "The group has no such member."),
    errors.MemberIdRequired: (_BAD_REQUEST, "A member joins with the id that it was given."),
    errors.FencedInstanceId: (_FENCED, "Another member has taken this instance id."),
    errors.UnreleasedInstanceId: (_FENCED, "A member that is still there has this instance id."),
    errors.IllegalGeneration: (_FENCED, "The group has members, or is at another generation."),
    errors.FencedMemberEpoch: (_FENCED, "The member is at an epoch that the group has left."),
    errors.StaleMemberEpoch: (_FENCED, "The member is at an older epoch than the group."),
    errors.InconsistentGroupProtocol: (
        _BAD_REQUEST,
        "The group's members have no protocol in common.",
    ),
    errors.InvalidSessionTimeout: (
        _BAD_REQUEST,
        "The session timeout lies outside what this broker allows.",
    ),
    errors.RebalanceInProgress: (Refusal(409, 40907), "The group is rebalancing; ask again."),
    errors.UnsupportedAssignor: (_BAD_REQUEST, "There is no such assignor."),
    errors.InvalidRegularExpression: (_BAD_REQUEST, "The pattern is no regular expression of RE2."),
    errors.OffsetMetadataTooLarge: (Refusal(413, 41304), "The metadata of an offset is too long."),
    errors.InvalidCommitOffsetSize: (_BAD_REQUEST, "These offsets are too much for one commit."),
    errors.GroupSubscribedToTopic: (Refusal(409, 40908), "The group reads this topic just now."),
}


def refusal_of(error: BrokerError) -> Refusal:
    return REFUSALS[type(error)][0]


def message_of(error: BrokerError) -> str:
    return error.message or REFUSALS[type(error)][1]


def phrase(status: int) -> str:
    """As Confluent's server words it where there is nothing more to say."""
    return f"HTTP {status} {HTTPStatus(status).phrase}"
