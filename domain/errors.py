"""All errors that clients get, as one tree under BrokerError.

    BrokerError
      InvalidRequest                 the request contradicts itself
      UnsupportedVersion             a field's value needs a newer version
      MismatchedEndpointType  UnsupportedEndpointType  ResourceNotFound  DuplicateResource
      StorageFailed                  the store failed
      security
        SecurityDisabled               no authorizer is configured
        TopicAuthorizationFailed  GroupAuthorizationFailed  ClusterAuthorizationFailed
      topics
        UnknownTopicOrPartition  UnknownTopicId  InvalidTopic  TopicAlreadyExists
        InvalidPartitions  InvalidReplicationFactor  InvalidReplicaAssignment
        InvalidConfig  TopicDeletionDisabled  PolicyViolation  ThrottlingQuotaExceeded
        LogDirNotFound
      InvalidUpdateVersion           of a feature
      produce
        RequestTimedOut              too much at once, a retry succeeds
        CorruptMessage  MessageTooLarge  InvalidRecord  InvalidTimestamp  InvalidRequiredAcks
        UnsupportedCompressionType  OutOfOrderSequence  InvalidProducerEpoch  NotEnoughReplicas
      transactions
        InvalidTxnState  ConcurrentTransactions  TransactionAbortable  InvalidProducerIdMapping
        ProducerFenced  TransactionCoordinatorFenced  InvalidTransactionTimeout
        TransactionalIdNotFound  TransactionalIdNotAuthorized
        OperationNotAttempted        because of another partition of the request
      LeaderNotAvailable             the leader of a partition is not alive
      NotLeaderOrFollower            the client's metadata is stale
        FencedLeaderEpoch
      fetch
        OffsetOutOfRange  UnknownLeaderEpoch  FetchSessionNotFound  InvalidFetchSessionEpoch
        FetchSessionTopicIdError
      groups
        CoordinatorLoadInProgress      committed offsets are not loaded yet
        CoordinatorNotAvailable        a retry may succeed
        NotCoordinator                 another node coordinates the group
        InvalidGroupId  GroupIdNotFound  NonEmptyGroup
        GroupMaxSizeReached  GroupMetadataTooLarge  GroupSubscribedToTopic
        UnknownMemberId  MemberIdRequired  FencedInstanceId  UnreleasedInstanceId
        IllegalGeneration  FencedMemberEpoch  StaleMemberEpoch  InconsistentGroupProtocol
        InvalidSessionTimeout  RebalanceInProgress  UnsupportedAssignor  InvalidRegularExpression
        OffsetMetadataTooLarge  InvalidCommitOffsetSize  UnstableOffsetCommit

An error of a partition is a value in a result; an error of a whole request is raised. Error codes
are in `interfaces/kafka/requests/error_codes.py` only.
"""

from __future__ import annotations

from typing import Self

from domain.cluster.nodes import NO_LEADER, Leader


class BrokerError(Exception):
    """An error with a message for the client."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message

    def as_value(self) -> Self:
        """Removes the traceback of an error that is stored: it would hold all locals on its way,
        such as the bytes of the request, and itself in a cycle.
        """
        self.__traceback__ = self.__cause__ = self.__context__ = None
        return self


class InvalidRequest(BrokerError):
    pass


class UnsupportedVersion(BrokerError):
    pass


class MismatchedEndpointType(BrokerError):
    pass


class UnsupportedEndpointType(BrokerError):
    pass


class StorageFailed(BrokerError):
    pass


class SecurityDisabled(BrokerError):
    pass


class TopicAuthorizationFailed(BrokerError):
    pass


class GroupAuthorizationFailed(BrokerError):
    pass


class ClusterAuthorizationFailed(BrokerError):
    pass


class ResourceNotFound(BrokerError):
    pass


class DuplicateResource(BrokerError):
    pass


class UnknownTopicOrPartition(BrokerError):
    pass


class UnknownTopicId(BrokerError):
    pass


class InvalidTopic(BrokerError):
    pass


class TopicAlreadyExists(BrokerError):
    pass


class InvalidPartitions(BrokerError):
    pass


class InvalidReplicationFactor(BrokerError):
    pass


class InvalidReplicaAssignment(BrokerError):
    pass


class InvalidConfig(BrokerError):
    pass


class TopicDeletionDisabled(BrokerError):
    pass


class PolicyViolation(BrokerError):
    pass


class ThrottlingQuotaExceeded(BrokerError):
    pass


class LogDirNotFound(BrokerError):
    pass


class InvalidUpdateVersion(BrokerError):
    pass


class CorruptMessage(BrokerError):
    pass


class MessageTooLarge(BrokerError):
    pass


class RecordFault:
    """One refused record, by its index in the batch."""

    __slots__ = ("index", "message")

    def __init__(self, index: int, message: str) -> None:
        self.index = index
        self.message = message


class InvalidRecord(BrokerError):
    def __init__(self, message: str = "", faults: tuple[RecordFault, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class InvalidTimestamp(BrokerError):
    def __init__(self, message: str = "", faults: tuple[RecordFault, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults


class RequestTimedOut(BrokerError):
    pass


class InvalidRequiredAcks(BrokerError):
    pass


class UnsupportedCompressionType(BrokerError):
    pass


class OutOfOrderSequence(BrokerError):
    pass


class InvalidProducerEpoch(BrokerError):
    pass


class InvalidTxnState(BrokerError):
    pass


class NotEnoughReplicas(BrokerError):
    """Fewer copies than min.insync.replicas, or a transaction that ends: a retry may succeed."""


class ConcurrentTransactions(BrokerError):
    """A transaction of this transactional id ends: a retry succeeds."""


class TransactionAbortable(BrokerError):
    """The client must abort the transaction, and may then continue (KIP-890)."""


class InvalidProducerIdMapping(BrokerError):
    pass


class ProducerFenced(BrokerError):
    pass


class InvalidTransactionTimeout(BrokerError):
    pass


class TransactionalIdNotFound(BrokerError):
    pass


class TransactionCoordinatorFenced(BrokerError):
    pass


class OperationNotAttempted(BrokerError):
    pass


class TransactionalIdNotAuthorized(BrokerError):
    pass


class OffsetOutOfRange(BrokerError):
    pass


class LeaderNotAvailable(BrokerError):
    pass


class NotLeaderOrFollower(BrokerError):
    """With the current leader, so that the client needs no metadata request (KIP-951)."""

    def __init__(self, leader: Leader = NO_LEADER, message: str = "") -> None:
        super().__init__(message)
        self.leader = leader


class FencedLeaderEpoch(NotLeaderOrFollower):
    """The leader epoch of the client is older."""


class UnknownLeaderEpoch(BrokerError):
    pass


class FetchSessionNotFound(BrokerError):
    pass


class InvalidFetchSessionEpoch(BrokerError):
    pass


class FetchSessionTopicIdError(BrokerError):
    pass


class CoordinatorLoadInProgress(BrokerError):
    pass


class NotCoordinator(BrokerError):
    pass


class CoordinatorNotAvailable(BrokerError):
    pass


class InvalidGroupId(BrokerError):
    pass


class GroupIdNotFound(BrokerError):
    pass


class NonEmptyGroup(BrokerError):
    pass


class GroupMaxSizeReached(BrokerError):
    pass


class GroupMetadataTooLarge(BrokerError):
    pass


class UnknownMemberId(BrokerError):
    pass


class MemberIdRequired(BrokerError):
    pass


class FencedInstanceId(BrokerError):
    pass


class UnreleasedInstanceId(BrokerError):
    pass


class IllegalGeneration(BrokerError):
    pass


class FencedMemberEpoch(BrokerError):
    pass


class StaleMemberEpoch(BrokerError):
    pass


class InconsistentGroupProtocol(BrokerError):
    pass


class InvalidSessionTimeout(BrokerError):
    pass


class RebalanceInProgress(BrokerError):
    pass


class UnsupportedAssignor(BrokerError):
    pass


class InvalidRegularExpression(BrokerError):
    pass


class OffsetMetadataTooLarge(BrokerError):
    pass


class InvalidCommitOffsetSize(BrokerError):
    pass


class UnstableOffsetCommit(BrokerError):
    pass


class GroupSubscribedToTopic(BrokerError):
    pass
