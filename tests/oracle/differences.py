"""THE table of intended differences from Kafka, printed in docs/behaviour.md.

A difference without a row fails the test, and so does a row without a difference.
"""

from __future__ import annotations

from tests.oracle.cluster_differences import CLUSTER
from tests.oracle.compare import MISSING
from tests.oracle.config_differences import CONFIGS
from tests.oracle.difference import Difference, Words
from tests.oracle.group_differences import GROUPS
from tests.oracle.scenario_run import SILENT
from tests.oracle.topic_differences import TOPICS
from tests.oracle.transaction_differences import TRANSACTIONS

_PRODUCED = "responses[].partition_responses[]"
_FETCHED = "responses[].partitions[]"

API_VERSIONS = (
    Difference(
        *("api_versions", "0-4", ("*",)),
        *("api_keys.*", Words("all of its APIs"), MISSING),
        "APIs that are not served are not advertised: [apis.md](apis.md), "
        "[skipped.md](skipped.md).",
    ),
    Difference(
        *("api_versions", "3-4", ("*",)),
        *("supported_features.group.version", Words("left out, or `0-1`"), "1-1"),
        "Consumer groups (KIP-848) cannot be disabled.",
    ),
    Difference(
        *("api_versions", "3-4", ("*",)),
        *("supported_features.*", Words("more than ours"), MISSING),
        "Clients do not need them.",
    ),
    Difference(
        *("api_versions", "3-4", ("*",)),
        *("finalized_features*", Words("five more than ours"), Words("none of them")),
        "As above.",
    ),
)

_BAD_NUMBERS = ("batches from an offset: an isolation level of 2", "limits: negative")
FETCH = (
    Difference(
        *("fetch", "4-18"),
        ("limits: two batches and a half", "limits: two batches and a half in all"),
        *(f"{_FETCHED}.records[]", {"cut_off": True}, MISSING),
        "Only whole batches are sent, which every client accepts; Kafka cuts the last one.",
    ),
    Difference(
        *("fetch", "4-18", ("*",)),
        *(f"{_FETCHED}.aborted_transactions", MISSING, None),
        "It is null without `read_committed` and for unknown partitions; it is empty either way.",
    ),
    Difference(
        *("fetch", "4-18", ("unknown topics and partitions: unknown first",)),
        *("responses order", Words("unknown topics last"), Words("in the order of the request")),
        "Clients find topics by name.",
    ),
    Difference(
        *("fetch", "13-18", ("unknown topics and partitions: known and unknown",)),
        *("responses[]*", Words("a topic may stand twice"), Words("each topic once")),
        "As above.",
    ),
    Difference(
        *("fetch", "4-18", _BAD_NUMBERS),
        *("*", Words("UNKNOWN_SERVER_ERROR (-1)"), Words("the records")),
        "A negative limit means no limit, and every level but 1 is `read_uncommitted`.",
        ((f"{_FETCHED}.error_code", -1, 0), ("error_code", -1, 0)),
    ),
    Difference(
        *("fetch", "4-18", ("followers: replica 1", "followers: replica 5")),
        *(f"{_FETCHED}.*", Words("NOT_LEADER_OR_FOLLOWER (6)"), Words("the records")),
        "There are no followers: a replica id is treated as a consumer.",
        ((f"{_FETCHED}.error_code", 6, 0),),
    ),
    Difference(
        *("fetch", "4-18", ("a partition twice: at two offsets",)),
        *("responses[].partitions*", Words("only the last one"), Words("both, in their order")),
        "Each item of a request gets a response.",
    ),
)

INIT_PRODUCER_ID = (
    Difference(
        *("init_producer_id", "0-5"),
        tuple(f"an open transaction: by another producer, {version}" for version in (3, 5)),
        *(
            "*",
            Words("CONCURRENT_TRANSACTIONS (51)"),
            Words("the id, and the epoch after the abort"),
        ),
        "The transaction is aborted in the same commit; in Kafka the client retries.",
        (("error_code", 51, 0),),
    ),
)

_CODECS = ("gzip", "snappy", "lz4", "zstd")
#: Snappy has the same bytes.
_STORED = (
    *("gzip", "lz4", "zstd"),
    *("gzip, level 1", "gzip, level 9", "lz4, level 1", "lz4, level 17"),
    *("zstd, level -131072", "zstd, level 22"),
)
PRODUCE = (
    Difference(
        *("produce", "3-12", ("internal topics: not created yet",)),
        *(f"{_PRODUCED}.error_code", 3, 17),
        "Refused like the internal topics that Kafka has created.",
    ),
    Difference(
        *("produce", "5-13", ("*",)),
        *(f"{_PRODUCED}.log_start_offset", 0, -1),
        "Refusals have no log start offset. Producers read it with UNKNOWN_PRODUCER_ID only, "
        "which is never sent.",
    ),
    Difference(
        *("produce", "8-13", ("*",)),
        *(f"{_PRODUCED}.error_message", MISSING, Words("a sentence")),
        "Most refusals of Kafka have no message.",
    ),
    Difference(
        *("produce", "3-13", tuple(f"compressed batches: codec {one}" for one in (5, 6, 7))),
        *(f"{_PRODUCED}.error_code", -1, 87),
        "Kafka responds with an unknown error, which clients retry.",
    ),
    Difference(
        *("produce", "3-13"),
        tuple(
            f"recompression of broken batches: {one}"
            for one in (
                *(f"not {name}" for name in _CODECS),
                *(f"half, {name}" for name in _CODECS if name not in ("lz4", "zstd")),
            )
        ),
        *(f"{_PRODUCED}.error_code", -1, 2),
        "As above.",
    ),
    Difference(
        *("produce", "7-13", ("recompression of broken batches: half, zstd",)),
        *(f"{_PRODUCED}.error_code", -1, 2),
        "As above.",
    ),
    Difference(
        *("produce", "3-13", ("recompression of broken batches: codec 5",)),
        *(f"{_PRODUCED}.error_code", -1, 87),
        "As above.",
    ),
    Difference(
        *("produce", "3-13", ("recompression of broken batches: half, lz4",)),
        *(f"{_PRODUCED}.*", Words("UNKNOWN_SERVER_ERROR (-1)"), Words("accepted")),
        "The topic has `compression.type=lz4`, so this batch stays as it is: opaque.",
        ((f"{_PRODUCED}.error_code", -1, 0),),
    ),
    Difference(
        *("produce", "3-13", ("recompression of broken batches: garbage, lz4",)),
        *(f"{_PRODUCED}.*", Words("INVALID_RECORD (87)"), Words("accepted")),
        "As above.",
        ((f"{_PRODUCED}.error_code", 87, 0),),
    ),
    *(
        Difference(
            *("produce", versions, at),
            *(f"{_FETCHED}.records[].{field}", Words("of its libraries"), Words("of ours")),
            "The same records, compressed by another library.",
        )
        for field, versions, at in (
            ("crc", "13", tuple(f"recompression: stored, {one}" for one in _STORED)),
            ("records", "13", tuple(f"recompression: stored, {one}" for one in _STORED)),
            (
                "length",
                "13",
                tuple(f"recompression: stored, {one}" for one in _STORED if "gzip" not in one),
            ),
            ("records", "3-13", ("recompression and timestamps: stored",)),
            *(
                (field, "3-13", ("recompression of a compacted topic: stored",))
                for field in ("crc", "length", "records")
            ),
        )
    ),
    Difference(
        *("produce", "3-13", ("sizes: larger than a segment",)),
        *(f"{_PRODUCED}.*", Words("RECORD_LIST_TOO_LARGE (18)"), Words("accepted")),
        "There are no segment files: `max.message.bytes` alone limits a batch.",
        ((f"{_PRODUCED}.error_code", 18, 0),),
    ),
    Difference(
        *("produce", "3-13", ("good batches: stored",)),
        *(f"{_FETCHED}.records[].*", Words("recomputed"), Words("as the producer sent it")),
        "The header's largest timestamp is trusted; here all records have a negative one.",
    ),
    Difference(
        *("produce", "8-13", ("log append time: flagged by the producer",)),
        *(f"{_PRODUCED}.record_errors", Words("each record"), MISSING),
        "The flag is the batch's.",
    ),
    Difference(
        *("produce", "8-13", ("log append time: flagged by the producer",)),
        *(f"{_PRODUCED}.error_message", Words("invalid timestamp"), Words("names the flag")),
        "As above.",
    ),
    Difference(
        *("produce", "3-13"),
        ("invalid records: flagged as log append time",),
        *(f"{_PRODUCED}.*", Words("accepted"), Words("INVALID_TIMESTAMP (32)")),
        "A producer must not mark its timestamps as the broker's; Kafka checks the flag only "
        "with LogAppendTime.",
        ((f"{_PRODUCED}.error_code", 0, 32),),
    ),
    Difference(
        *("produce", "3-13"),
        (
            "invalid records: garbage",
            "invalid records: garbage, gzip",
            "invalid records: empty",
            "invalid records: a largest timestamp*",
        ),
        *(f"{_PRODUCED}.*", Words("INVALID_RECORD (87)"), Words("accepted")),
        "Batches are opaque. (The two after them differ in their offsets only.)",
        ((f"{_PRODUCED}.error_code", 87, 0),),
    ),
    Difference(
        *("produce", "3-13"),
        ("broken batches: a batch and a half", "broken batches: a batch and a byte"),
        *(f"{_PRODUCED}.*", Words("the first batch is accepted"), Words("INVALID_RECORD (87)")),
        "Kafka drops all but the first batch, and the producer believes they are stored.",
        ((f"{_PRODUCED}.error_code", 0, 87),),
    ),
    Difference(
        *("produce", "3-13", ("broken batches: stored",)),
        *(f"{_FETCHED}.*", Words("with the two batches above"), Words("without them")),
        "As above.",
    ),
    Difference(
        *("produce", "3-13", ("null records: null",)),
        *("", SILENT, Words("INVALID_RECORD (87)")),
        "Kafka never responds, and the connection hangs.",
    ),
    Difference(
        *("produce", "3-13", ("unknown topics and partitions: no partition",)),
        *("responses", MISSING, Words("the topic, without partitions")),
        "Each item of a request gets a response.",
    ),
    Difference(
        *("produce", "3-13", ("illegal acks: and an unknown topic",)),
        *(f"{_PRODUCED}.error_code", Words("unknown topic"), 21),
        "The acks are invalid for every topic.",
    ),
    Difference(
        *("produce", "3-13", ("a partition twice: in one topic",)),
        *("responses[].partition_responses*", Words("only the last one"), Words("both")),
        "Kafka drops the first batch, and the producer believes it is stored.",
    ),
    Difference(
        *("produce", "3-13", ("a partition twice: stored",)),
        *(f"{_FETCHED}.*", Words("only the last one"), Words("both")),
        "As above.",
    ),
)

_WRONG = "wrong timestamps in headers"
LIST_OFFSETS = (
    Difference(
        *("list_offsets", "7-11"),
        (f"{_WRONG}: the largest", f"{_WRONG}: claimed too early, the largest"),
        "topics[].partitions[].*",
        *(Words("the largest of all"), Words("of the batch with the largest in its header")),
        "The header's largest timestamp is trusted.",
    ),
    Difference(
        *("list_offsets", "1-11"),
        tuple(f"{_WRONG}: claimed too early, after {one} ms" for one in (30, 60, 71, 90)),
        "topics[].partitions[].*",
        *(
            Words("the first record that is late enough"),
            Words("the next batch with such a header"),
        ),
        "A search opens only batches with a late enough timestamp in the header. A header "
        "with too late a timestamp does not change the result.",
    ),
)

DELETE_RECORDS = (
    Difference(
        *("delete_records", "0-2", ("deleted largest timestamp: the largest",)),
        *("topics[].partitions[].*", Words("a deleted record"), Words("a remaining record")),
        "Kafka returns it until it deletes the segment, some minutes later.",
    ),
    Difference(
        *("delete_records", "0-2", ("timestamps: all: the largest",)),
        *("topics[].partitions[].*", Words("a deleted record"), Words("none")),
        "As above.",
    ),
)

DESCRIBE_LOG_DIRS = (
    Difference(
        *("describe_log_dirs", "4", ("*",)),
        *("results[].*_bytes", Words("of the volume"), -1),
        "Only with the memory engine, which has no volume.",
    ),
)

DIFFERENCES = (
    *CLUSTER,
    *CONFIGS,
    *GROUPS,
    *TOPICS,
    *TRANSACTIONS,
    *(*API_VERSIONS, *DELETE_RECORDS, *DESCRIBE_LOG_DIRS),
    *(*FETCH, *INIT_PRODUCER_ID, *LIST_OFFSETS, *PRODUCE),
)
