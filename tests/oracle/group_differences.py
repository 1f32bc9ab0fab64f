"""The rows of the table of differences that are about groups and their offsets."""

from __future__ import annotations

from tests.oracle.difference import Difference, Words

GROUPS = (
    Difference(
        *("offset_fetch", "9-10", ("members: an epoch alone", "members: an epoch alone: all")),
        *("groups[].error_code", -1, 25),
        "A member that does not say who it is is not known; Kafka calls it an unknown error.",
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
        "What takes RE2 more than 1024 instructions, or has more than 4096 characters, is refused: "
        "a name could take milliseconds.",
        (("error_code", 0, 128),),
    ),
)
