"""Differences of requests that describe and alter the cluster and its brokers."""

from __future__ import annotations

from tests.oracle.difference import Difference, Words

ALTER_REPLICA_LOG_DIRS = (
    Difference(
        *("alter_replica_log_dirs", "1-2", ("unknown topics and partitions: a long name",)),
        *("results[].partitions[].error_code", 17, 3),
        "Kafka's limit is that of a folder's name; partitions have no folders.",
    ),
)

DESCRIBE_QUORUM = (
    Difference(
        *("describe_quorum", "0-2", ("the metadata log: its partition",)),
        *("topics[].partitions[].*", Words("offsets, a directory id"), Words("none of them")),
        "There is no metadata log: changes of topics are in the commits of the store.",
    ),
    Difference(
        *("describe_quorum", "2", ("the metadata log: its partition",)),
        *("nodes[].listeners[]*", Words("of the controller"), Words("of the client")),
        "One listener serves clients and tools.",
    ),
)

ALTER_USER_SCRAM_CREDENTIALS = (
    Difference(
        *("alter_user_scram_credentials", "0", ("limits: no salted password",)),
        *("results[].*", Words("UNKNOWN_SERVER_ERROR (-1)"), Words("UNACCEPTABLE_CREDENTIAL (93)")),
        "An empty salted password is a mistake of the client, not of the broker.",
        (("results[].error_code", -1, 93),),
    ),
)

_FIXED = "The level of `group.version` is fixed."
UPDATE_FEATURES = (
    Difference(
        *("update_features", "1-2"),
        ("validation: a safe downgrade", "validation: an unsafe downgrade"),
        *("*", Words("accepted"), Words("INVALID_UPDATE_VERSION (95)")),
        _FIXED,
        (("error_code", 0, 95),),
    ),
    Difference(
        *("update_features", "0-2"),
        (
            "levels: a higher one",
            "levels: a lower one",
            "kinds of upgrades: safe downgrade, a higher level",
            "kinds of upgrades: unsafe downgrade, a higher level",
            "allowed downgrades: a higher level",
            "validation: a higher level",
            "validation: a downgrade without its type",
            "validation: another level of metadata.version",
            "features: an unknown one, level 0",
            "features: one twice",
        ),
        *("error_message", Words("the reason"), Words("the only level")),
        "As above.",
    ),
)

CLUSTER = (
    *ALTER_REPLICA_LOG_DIRS,
    *ALTER_USER_SCRAM_CREDENTIALS,
    *DESCRIBE_QUORUM,
    *UPDATE_FEATURES,
)
