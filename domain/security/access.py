"""Operations and resource types of Kafka's ACLs."""

from __future__ import annotations

from enum import Enum


class Operation(Enum):
    """In the order of Kafka's codes, which start with 2."""

    #: Of an ACL only: every operation.
    ALL = "All"
    READ = "Read"
    WRITE = "Write"
    CREATE = "Create"
    DELETE = "Delete"
    ALTER = "Alter"
    DESCRIBE = "Describe"
    CLUSTER_ACTION = "ClusterAction"
    DESCRIBE_CONFIGS = "DescribeConfigs"
    ALTER_CONFIGS = "AlterConfigs"
    IDEMPOTENT_WRITE = "IdempotentWrite"
    CREATE_TOKENS = "CreateTokens"
    DESCRIBE_TOKENS = "DescribeTokens"
    TWO_PHASE_COMMIT = "TwoPhaseCommit"

    __hash__ = object.__hash__  # that of Enum is slow, for keys of each request


class ResourceType(Enum):
    """In the order of Kafka's codes, which start with 2."""

    TOPIC = "Topic"
    GROUP = "Group"
    CLUSTER = "Cluster"
    TRANSACTIONAL_ID = "TransactionalId"
    DELEGATION_TOKEN = "DelegationToken"
    USER = "User"

    __hash__ = object.__hash__


#: The one resource of its type.
CLUSTER_NAME = "kafka-cluster"
