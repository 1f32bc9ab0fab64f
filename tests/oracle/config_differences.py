"""Differences of requests about configs."""

from __future__ import annotations

from tests.oracle.compare import MISSING
from tests.oracle.difference import Difference, Words

_NO_METRICS = "Metrics of clients are not collected"
_NO_METRICS_HERE = "Client telemetry is not built ([skipped.md](skipped.md)); Kafka has defaults."

DESCRIBE_CONFIGS = (
    Difference(
        *("describe_configs", "1-4"),
        ("topics: all*", "topics: topic configs", "topics: an *", "internal topics: all*"),
        *("results[].configs.min.insync.replicas", Words("from source 3"), Words("from source 5")),
        "In Kafka this default is a cluster config (3) since eligible leader replicas; here it "
        "is a default like the others (5).",
    ),
    Difference(
        *("describe_configs", "1-4", ("brokers: all brokers",)),
        *("results[].configs", Words("`min.insync.replicas`"), MISSING),
        "As above.",
    ),
    Difference(
        *("describe_configs", "1-4", ("topics: one twice",)),
        *("results[]", Words("a result for each"), MISSING),
        "A repeated resource gets one result: a request may repeat it fifty thousand times.",
    ),
    Difference(
        *("describe_configs", "1-4", ("groups: no config set",)),
        *("results[].configs.s*", Words("those of share and streams groups"), MISSING),
        "Such groups are not served ([skipped.md](skipped.md)).",
    ),
    Difference(
        *("describe_configs", "1-4", ("refusals: metrics of clients",)),
        *("results[].error_code", 0, 42),
        _NO_METRICS_HERE,
    ),
    Difference(
        *("describe_configs", "1-4", ("refusals: metrics of clients",)),
        *("results[].configs", Words("three defaults"), MISSING),
        "As above.",
    ),
    Difference(
        *("describe_configs", "1-4", ("refusals: metrics of clients", "refusals: metrics with*")),
        *("results[].error_message", Words("none, or a name is required"), _NO_METRICS),
        "As above.",
    ),
)

_UNKNOWN_OPERATIONS = ("refusals of topics: operation 9", "refusals of topics: operation -1")
_ADVERTISED = "brokers: advertised listeners, '1'"
_ADVERTISED_OF_ALL = "brokers: advertised listeners, ''"
_UNKNOWN_SETTING = ("brokers: unknown, ''", "brokers: unknown, '1'")
_IN_SYNC = (
    "brokers: more replicas than brokers, '1'",
    "brokers: in sync, deleted, ''",
    "brokers: in sync, deleted, '1'",
)
INCREMENTAL_ALTER_CONFIGS = (
    Difference(
        *("incremental_alter_configs", "0-1", _UNKNOWN_OPERATIONS),
        *("responses[].error_code", -1, 42),
        "As Kafka responds for broker configs.",
    ),
    Difference(
        *("incremental_alter_configs", "0-1", _UNKNOWN_OPERATIONS),
        *("responses[].error_message", None, Words("a sentence")),
        "As above.",
    ),
    Difference(
        *("incremental_alter_configs", "0-1", (_ADVERTISED,)),
        *("responses[].error_code", 42, 0),
        "Dynamic, as in Kafka before 4.0: a container learns its mapped port after its start.",
    ),
    Difference(
        *("incremental_alter_configs", "0-1", (_ADVERTISED,)),
        *("responses[].error_message", Words("cannot update dynamically"), None),
        "As above.",
    ),
    Difference(
        *("incremental_alter_configs", "0-1", (_ADVERTISED_OF_ALL,)),
        *("responses[].error_message", Words("cannot update dynamically")),
        *(Words("cannot update for all brokers"), "As above; not for all brokers at once."),
    ),
    Difference(
        *("incremental_alter_configs", "0-1", _UNKNOWN_SETTING),
        *("responses[].error_code", 0, 40),
        "Kafka stores unknown configs for plugins. Ottla has no plugins, and a stored config "
        "would look effective.",
    ),
    Difference(
        *("incremental_alter_configs", "0-1", _UNKNOWN_SETTING),
        *("responses[].error_message", None, "Unknown broker config name: no.such.config"),
        "As above.",
    ),
    Difference(
        *("incremental_alter_configs", "0-1", _IN_SYNC),
        *("responses[].error_code", 40, 0),
        "Kafka fixes where this config is set, for eligible leader replicas; one node has none.",
    ),
    Difference(
        *("incremental_alter_configs", "0-1", _IN_SYNC),
        *("responses[].error_message", Words("while ELR is enabled"), None),
        "As above.",
    ),
    Difference(
        *("incremental_alter_configs", "0-1", ("groups: of share groups",)),
        *("responses[].error_code", 0, 40),
        "Such groups are not served ([skipped.md](skipped.md)).",
    ),
    Difference(
        *("incremental_alter_configs", "0-1", ("groups: of share groups",)),
        *("responses[].error_message", None, Words("unknown config")),
        "As above.",
    ),
    Difference(
        *("incremental_alter_configs", "0-1", ("other resources: metrics of clients",)),
        *("responses[].error_code", 0, 42),
        _NO_METRICS_HERE,
    ),
    Difference(
        *("incremental_alter_configs", "0-1", ("other resources: metrics of clients",)),
        *("responses[].error_message", None, _NO_METRICS),
        "As above.",
    ),
)

ALTER_CONFIGS = (
    Difference(
        *("alter_configs", "0-2", ("refusals: metrics of clients",)),
        *("responses[].error_code", 0, 42),
        _NO_METRICS_HERE,
    ),
    Difference(
        *("alter_configs", "0-2", ("refusals: metrics of clients",)),
        *("responses[].error_message", None, _NO_METRICS),
        "As above.",
    ),
)

LIST_CONFIG_RESOURCES = (
    Difference(
        *("list_config_resources", "1", ("groups: no longer set",)),
        *("config_resources", Words("the group"), MISSING),
        "A group is listed while a config is set for it; Kafka continues to list it.",
    ),
)

CONFIGS = (
    *(*DESCRIBE_CONFIGS, *ALTER_CONFIGS, *INCREMENTAL_ALTER_CONFIGS, *LIST_CONFIG_RESOURCES),
)
