"""THE map from errors to Kafka's error codes; total both ways."""

from __future__ import annotations

from domain import errors
from domain.errors import BrokerError

#: For bugs; the log has the traceback.
UNKNOWN_SERVER_ERROR = -1

#: Each error with its code and Kafka's name of it, which the request log shows.
_TABLE: dict[type[BrokerError], tuple[int, str]] = {
    # As in Kafka, where the group's record does not fit into __consumer_offsets.
    errors.GroupMetadataTooLarge: (UNKNOWN_SERVER_ERROR, "UNKNOWN_SERVER_ERROR"),
    errors.OffsetOutOfRange: (1, "OFFSET_OUT_OF_RANGE"),
    errors.CorruptMessage: (2, "CORRUPT_MESSAGE"),
    errors.UnknownTopicOrPartition: (3, "UNKNOWN_TOPIC_OR_PARTITION"),
    errors.LeaderNotAvailable: (5, "LEADER_NOT_AVAILABLE"),
    errors.NotLeaderOrFollower: (6, "NOT_LEADER_OR_FOLLOWER"),
    errors.MessageTooLarge: (10, "MESSAGE_TOO_LARGE"),
    errors.OffsetMetadataTooLarge: (12, "OFFSET_METADATA_TOO_LARGE"),
    errors.CoordinatorLoadInProgress: (14, "COORDINATOR_LOAD_IN_PROGRESS"),
    errors.CoordinatorNotAvailable: (15, "COORDINATOR_NOT_AVAILABLE"),
    errors.NotCoordinator: (16, "NOT_COORDINATOR"),
    errors.InvalidTopic: (17, "INVALID_TOPIC_EXCEPTION"),
    errors.InvalidRequiredAcks: (21, "INVALID_REQUIRED_ACKS"),
    errors.IllegalGeneration: (22, "ILLEGAL_GENERATION"),
    errors.InconsistentGroupProtocol: (23, "INCONSISTENT_GROUP_PROTOCOL"),
    errors.InvalidGroupId: (24, "INVALID_GROUP_ID"),
    errors.UnknownMemberId: (25, "UNKNOWN_MEMBER_ID"),
    errors.InvalidSessionTimeout: (26, "INVALID_SESSION_TIMEOUT"),
    errors.RebalanceInProgress: (27, "REBALANCE_IN_PROGRESS"),
    errors.InvalidCommitOffsetSize: (28, "INVALID_COMMIT_OFFSET_SIZE"),
    errors.TopicAuthorizationFailed: (29, "TOPIC_AUTHORIZATION_FAILED"),
    errors.GroupAuthorizationFailed: (30, "GROUP_AUTHORIZATION_FAILED"),
    errors.ClusterAuthorizationFailed: (31, "CLUSTER_AUTHORIZATION_FAILED"),
    errors.InvalidTimestamp: (32, "INVALID_TIMESTAMP"),
    errors.UnsupportedVersion: (35, "UNSUPPORTED_VERSION"),
    errors.TopicAlreadyExists: (36, "TOPIC_ALREADY_EXISTS"),
    errors.InvalidPartitions: (37, "INVALID_PARTITIONS"),
    errors.InvalidReplicationFactor: (38, "INVALID_REPLICATION_FACTOR"),
    errors.InvalidReplicaAssignment: (39, "INVALID_REPLICA_ASSIGNMENT"),
    errors.InvalidConfig: (40, "INVALID_CONFIG"),
    errors.InvalidRequest: (42, "INVALID_REQUEST"),
    errors.PolicyViolation: (44, "POLICY_VIOLATION"),
    errors.OutOfOrderSequence: (45, "OUT_OF_ORDER_SEQUENCE_NUMBER"),
    errors.InvalidProducerEpoch: (47, "INVALID_PRODUCER_EPOCH"),
    errors.TransactionalIdNotAuthorized: (53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED"),
    errors.SecurityDisabled: (54, "SECURITY_DISABLED"),
    errors.StorageFailed: (56, "KAFKA_STORAGE_ERROR"),
    errors.NonEmptyGroup: (68, "NON_EMPTY_GROUP"),
    errors.GroupIdNotFound: (69, "GROUP_ID_NOT_FOUND"),
    errors.FetchSessionNotFound: (70, "FETCH_SESSION_ID_NOT_FOUND"),
    errors.InvalidFetchSessionEpoch: (71, "INVALID_FETCH_SESSION_EPOCH"),
    errors.TopicDeletionDisabled: (73, "TOPIC_DELETION_DISABLED"),
    errors.FencedLeaderEpoch: (74, "FENCED_LEADER_EPOCH"),
    errors.UnknownLeaderEpoch: (75, "UNKNOWN_LEADER_EPOCH"),
    errors.UnsupportedCompressionType: (76, "UNSUPPORTED_COMPRESSION_TYPE"),
    errors.MemberIdRequired: (79, "MEMBER_ID_REQUIRED"),
    errors.GroupMaxSizeReached: (81, "GROUP_MAX_SIZE_REACHED"),
    errors.FencedInstanceId: (82, "FENCED_INSTANCE_ID"),
    errors.ElectionNotNeeded: (84, "ELECTION_NOT_NEEDED"),
    errors.NoReassignmentInProgress: (85, "NO_REASSIGNMENT_IN_PROGRESS"),
    errors.GroupSubscribedToTopic: (86, "GROUP_SUBSCRIBED_TO_TOPIC"),
    errors.InvalidRecord: (87, "INVALID_RECORD"),
    errors.ResourceNotFound: (91, "RESOURCE_NOT_FOUND"),
    errors.DuplicateResource: (92, "DUPLICATE_RESOURCE"),
    errors.UnknownTopicId: (100, "UNKNOWN_TOPIC_ID"),
    errors.FetchSessionTopicIdError: (106, "FETCH_SESSION_TOPIC_ID_ERROR"),
    errors.FencedMemberEpoch: (110, "FENCED_MEMBER_EPOCH"),
    errors.UnreleasedInstanceId: (111, "UNRELEASED_INSTANCE_ID"),
    errors.UnsupportedAssignor: (112, "UNSUPPORTED_ASSIGNOR"),
    errors.StaleMemberEpoch: (113, "STALE_MEMBER_EPOCH"),
    errors.MismatchedEndpointType: (114, "MISMATCHED_ENDPOINT_TYPE"),
    errors.UnsupportedEndpointType: (115, "UNSUPPORTED_ENDPOINT_TYPE"),
    errors.InvalidRegularExpression: (128, "INVALID_REGULAR_EXPRESSION"),
}

CODES: dict[type[BrokerError], int] = {error: code for error, (code, _) in _TABLE.items()}
NAMES: dict[int, str] = dict(_TABLE.values())
