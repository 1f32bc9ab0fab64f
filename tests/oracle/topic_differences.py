"""Differences of requests that describe, create and delete topics."""

from __future__ import annotations

from tests.oracle.compare import MISSING
from tests.oracle.difference import Difference, Words

_RESERVED = "The names of Kafka's internal topics are reserved."
CREATE_TOPICS = (
    Difference(
        *("create_topics", "2-7", ("internal topics: not created yet",)),
        *("topics[].*", Words("can be created"), Words("INVALID_TOPIC_EXCEPTION (17)")),
        _RESERVED,
        (("topics[].error_code", 0, 17),),
    ),
    Difference(
        *("create_topics", "5-7", ("good topics: *", "configs: *", "names: *", "numbers: *")),
        *("topics[].configs.min.insync.replicas", "1 (3)", "1 (5)"),
        "In Kafka this default is a cluster config (3) since eligible leader replicas; here it "
        "is a default like the others (5).",
    ),
    Difference(
        *(
            "create_topics",
            "7",
            ("bounds of configs: retention.bytes below", "bounds of configs: highest"),
        ),
        *("topics[].configs.min.insync.replicas", "1 (3)", "1 (5)"),
        "As above.",
    ),
    Difference(
        *("create_topics", "7", ("bounds of configs: lowest",)),
        *("topics[].configs.min.cleanable.dirty.ratio", "0 (1)", "0.0 (1)"),
        "The value is returned as it was parsed.",
    ),
    Difference(
        *("create_topics", "7", ("bounds of configs: highest",)),
        *("topics[].configs.min.cleanable.dirty.ratio", "1 (1)", "1.0 (1)"),
        "As above.",
    ),
    Difference(
        *("create_topics", "5-7", ("configs: spaces",)),
        *("topics[].configs.retention.ms", " 1000  (1)", "1000 (1)"),
        "The value is returned as it was parsed.",
    ),
)

CREATE_PARTITIONS = (
    Difference(
        *("create_partitions", "0-3"),
        ("refusals: an unknown topic", "refusals: an illegal name", "refusals: an empty name"),
        *("results[].error_message", MISSING, Words("a sentence")),
        "A message costs nothing.",
    ),
    Difference(
        *("create_partitions", "0-3", ("refusals: more than 10,000",)),
        *("results[].error_code", -1, 44),
        "Kafka responds with an unknown error; for CreateTopics with POLICY_VIOLATION too.",
    ),
    Difference(
        *("create_partitions", "0-3", ("refusals: more than 10,000",)),
        *("results[].error_message", MISSING, Words("a sentence")),
        "As above.",
    ),
    Difference(
        *("create_partitions", "0-3", ("internal topics: more",)),
        *("results[].*", Words("partitions are added"), Words("INVALID_TOPIC_EXCEPTION (17)")),
        "The partition of a group depends on their number: Kafka then looks for offsets in the "
        "wrong one.",
        (("results[].error_code", 0, 17),),
    ),
)

DELETE_TOPICS = (
    Difference(
        *("delete_topics", "1-6", ("an internal topic: not created yet",)),
        *("responses[].error_code", 3, 17),
        f"{_RESERVED} One that an earlier release created can be deleted.",
    ),
    Difference(
        *("delete_topics", "5-6", ("an internal topic: not created yet",)),
        *("responses[].error_message", Words("unknown topic"), Words("a reserved name")),
        "As above.",
    ),
    Difference(
        *("delete_topics", "6", ("topics by id: zero, twice",)),
        *("responses[]", Words("a result for each"), MISSING),
        "A repeated id gets one result, also the zero id.",
    ),
    Difference(
        *("delete_topics", "6", ("topics by id: name, and id",)),
        *(
            "responses[]*",
            Words("one result with both"),
            Words("one for each, in the order of the request"),
        ),
        "A topic named by name and by id is refused for both, so a client finds each item of "
        "its request.",
    ),
)

DESCRIBE_TOPIC_PARTITIONS = (
    Difference(
        *("describe_topic_partitions", "0", ("topics: an empty name",)),
        *("topics[].error_code", -1, 17),
        "An empty name is invalid, as in Metadata.",
    ),
    Difference(
        *("describe_topic_partitions", "0", ("topics: an empty name",)),
        *("topics[].topic_authorized_operations", -(1 << 31), 3576),
        "As for every other name.",
    ),
)

_BEFORE_VERSION_12 = (
    "topics by id: an id before version 12",
    "topics by id: name and id of one topic",
    "topics by id: name and id of two topics",
)
METADATA = (
    Difference(
        *("metadata", "0-13", ("auto created topics: *",)),
        *("topics[].error_code", 3, 0),
        "A new topic is in the same response, as soon as it is durable; with Kafka the client "
        "retries.",
    ),
    Difference(
        *("metadata", "0-13", ("auto created topics: *",)),
        *("topics[].partitions", MISSING, Words("its partitions")),
        "As above.",
    ),
    Difference(
        *("metadata", "10-13", ("auto created topics: *",)),
        *("topics[].topic_id", "none", Words("its id")),
        "As above.",
    ),
    Difference(
        *("metadata", "4-13", ("a colliding name: may be created",)),
        *("topics[].error_code", 3, 17),
        "The topic cannot be created; Kafka responds for ever that it does not exist yet.",
    ),
    Difference(
        *("metadata", "10-11", _BEFORE_VERSION_12),
        *("*", Words("no brokers"), Words("brokers, cluster and controller")),
        "The topics are refused (42), as by Kafka; the rest of the response is valid.",
    ),
    Difference(
        *("metadata", "10-13", ("topics by id: zero and no name",)),
        *("*", Words("UNKNOWN_SERVER_ERROR (-1) and no brokers"), Words("the topic refused")),
        "An invalid item does not invalidate the response.",
        (("topics[].error_code", -1, 100), ("error_code", -1, 0)),
    ),
)

TOPICS = (
    *(*CREATE_TOPICS, *CREATE_PARTITIONS, *DELETE_TOPICS),
    *(*DESCRIBE_TOPIC_PARTITIONS, *METADATA),
)
