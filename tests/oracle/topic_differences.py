"""What Ottla answers otherwise where topics are described, created and deleted."""

from __future__ import annotations

from tests.oracle.compare import MISSING
from tests.oracle.difference import Difference, Words

_RESERVED = "The names of Kafka's internal topics are reserved; nothing is stored under them."
CREATE_TOPICS = (
    Difference(
        *("create_topics", "2-7", ("internal topics: not created yet",)),
        *("topics[].*", Words("can be created"), Words("INVALID_TOPIC_EXCEPTION (17)")),
        _RESERVED,
        (("topics[].error_code", 0, 17),),
    ),
    Difference(
        *("create_topics", "2-7", ("internal topics: of committed offsets",)),
        *("topics[].*", Words("TOPIC_ALREADY_EXISTS (36)"), Words("INVALID_TOPIC_EXCEPTION (17)")),
        "As above.",
        (("topics[].error_code", 36, 17),),
    ),
    Difference(
        *("create_topics", "5-7", ("good topics: *", "configs: *", "names: *", "numbers: *")),
        *("topics[].configs.min.insync.replicas", "1 (3)", "1 (5)"),
        "Kafka keeps this default as a setting of the cluster (3) since it has eligible leader "
        "replicas; here it is a default like the others (5).",
    ),
    Difference(
        *("create_topics", "5-7", ("configs: spaces",)),
        *("topics[].configs.retention.ms", " 1000  (1)", "1000 (1)"),
        "The value is told as it was understood.",
    ),
)

CREATE_PARTITIONS = (
    Difference(
        *("create_partitions", "0-3"),
        ("refusals: an unknown topic", "refusals: an illegal name", "refusals: an empty name"),
        *("results[].error_message", MISSING, Words("a sentence")),
        "It costs nothing to say it.",
    ),
    Difference(
        *("create_partitions", "0-3", ("refusals: more than 10,000",)),
        *("results[].error_code", -1, 44),
        "Kafka calls it an unknown error; in CreateTopics it is POLICY_VIOLATION there too.",
    ),
    Difference(
        *("create_partitions", "0-3", ("refusals: more than 10,000",)),
        *("results[].error_message", MISSING, Words("a sentence")),
        "As above.",
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
        *("responses[].error_message", Words("this topic is not here"), Words("it is reserved")),
        "As above.",
    ),
    Difference(
        *("delete_topics", "6", ("topics by id: zero, twice",)),
        *("responses[]", Words("each one answered"), MISSING),
        "What is named twice is answered once, also if it names nothing.",
    ),
    Difference(
        *("delete_topics", "6", ("topics by id: name, and id",)),
        *("responses[]*", Words("one answer with both"), Words("one for each, as they were asked")),
        "A topic named once by name and once by id is refused by both; a client finds its own "
        "words in the answer.",
    ),
)

DESCRIBE_TOPIC_PARTITIONS = (
    Difference(
        *("describe_topic_partitions", "0", ("topics: an empty name",)),
        *("topics[].error_code", -1, 17),
        "An empty name is an illegal name, here as in Metadata.",
    ),
    Difference(
        *("describe_topic_partitions", "0", ("topics: an empty name",)),
        *("topics[].topic_authorized_operations", -(1 << 31), 3576),
        "As for every other name.",
    ),
)

_BEFORE_ITS_TIME = (
    "topics by id: before its time",
    "topics by id: name and id of one topic",
    "topics by id: name and id of two",
)
METADATA = (
    Difference(
        *("metadata", "4-13", ("internal topics: of committed offsets",)),
        *("topics[].error_code", 0, 3),
        "Offsets are not records of a topic. An internal topic is unknown, as in a Kafka that has "
        "not created it yet, and is not created automatically.",
    ),
    Difference(
        *("metadata", "4-13", ("internal topics: of committed offsets",)),
        *("topics[].partitions", Words("its partitions"), MISSING),
        "As above.",
    ),
    Difference(
        *("metadata", "10-13", ("internal topics: of committed offsets",)),
        *("topics[].topic_id", Words("its id"), "none"),
        "As above.",
    ),
    Difference(
        *("metadata", "0-13", ("topics that are created on the way: *",)),
        *("topics[].error_code", 3, 0),
        "A topic that is created on the way is in the same answer, as soon as it is durable; "
        "Kafka lets the client ask again.",
    ),
    Difference(
        *("metadata", "0-13", ("topics that are created on the way: *",)),
        *("topics[].partitions", MISSING, Words("its partitions")),
        "As above.",
    ),
    Difference(
        *("metadata", "10-13", ("topics that are created on the way: *",)),
        *("topics[].topic_id", "none", Words("its id")),
        "As above.",
    ),
    Difference(
        *("metadata", "4-13", ("a name that collides: may be created",)),
        *("topics[].error_code", 3, 17),
        "Such a topic cannot be created; Kafka says for ever that it is not there yet.",
    ),
    Difference(
        *("metadata", "10-11", _BEFORE_ITS_TIME),
        *("*", Words("no brokers"), Words("brokers, cluster and controller")),
        "The topics are refused (42), as by Kafka; the rest of the answer is true anyway.",
    ),
    Difference(
        *("metadata", "10-13", ("topics by id: zero and no name",)),
        *("*", Words("UNKNOWN_SERVER_ERROR (-1) and no brokers"), Words("the topic refused")),
        "One bad item does not spoil the answer.",
        (("topics[].error_code", -1, 100), ("error_code", -1, 0)),
    ),
)

TOPICS = (
    *(*CREATE_TOPICS, *CREATE_PARTITIONS, *DELETE_TOPICS),
    *(*DESCRIBE_TOPIC_PARTITIONS, *METADATA),
)
