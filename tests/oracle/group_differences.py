"""Differences of requests about groups and their offsets."""

from __future__ import annotations

from tests.oracle.difference import Difference, Words

GROUPS = (
    Difference(
        *(
            "offset_fetch",
            "9-10",
            (
                "members of a consumer group: an epoch alone",
                "members of a consumer group: an epoch alone: all",
            ),
        ),
        *("groups[].error_code", -1, 25),
        "A member without an id is unknown; Kafka responds with an unknown error.",
    ),
    Difference(
        "consumer_group_heartbeat",
        "1",
        (
            "subscriptions by pattern: pattern: a large program",
            "subscriptions by pattern: pattern: many characters",
        ),
        "*",
        Words("the member joins"),
        Words("error 128"),
        "Expressions of more than 1024 RE2 instructions or 4096 characters are refused: "
        "matching a name could take milliseconds.",
        (("error_code", 0, 128),),
    ),
)
