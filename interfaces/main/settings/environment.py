"""Settings from the environment: OTTLA_NUM_PARTITIONS, or KAFKA_ as in Kafka's image.

One underscore is a dot, two are an underscore, three a hyphen.
"""

from __future__ import annotations

from collections.abc import Mapping

from interfaces.main.settings.origin import ENVIRONMENT, Given

# Kafka's image uses these for the JVM and logging, not for server.properties.
_OF_THE_IMAGE = frozenset(
    f"KAFKA_{name}"
    for name in (
        "CLUSTER_ID",
        "DEBUG",
        "GC_LOG_OPTS",
        "HEAP_OPTS",
        "HOME",
        "JMX_HOSTNAME",
        "JMX_OPTS",
        "JMX_PORT",
        "JVM_PERFORMANCE_OPTS",
        "LOG4J_LOGGERS",
        "LOG4J_OPTS",
        "LOG4J_ROOT_LOGLEVEL",
        "OPTS",
        "TOOLS_LOG4J_LOGLEVEL",
        "VERSION",
    )
)
#: OTTLA_BOOTSTRAP is for the commands.
_NOT_SETTINGS = _OF_THE_IMAGE | {"OTTLA_BOOTSTRAP"}


def settings_from_environment(environment: Mapping[str, str]) -> dict[str, Given]:
    """OTTLA_ wins over KAFKA_; an empty variable is not set."""
    found: dict[str, Given] = {}
    if cluster_id := environment.get("CLUSTER_ID") or environment.get("KAFKA_CLUSTER_ID"):
        found["cluster.id"] = Given(cluster_id, f"{ENVIRONMENT} CLUSTER_ID")
    for prefix in ("KAFKA_", "OTTLA_"):
        for variable, text in sorted(environment.items()):
            if variable.startswith(prefix) and text and variable not in _NOT_SETTINGS:
                name = setting_name(variable[len(prefix) :])
                found[name] = Given(text, f"{ENVIRONMENT} {variable}")
    return found


def setting_name(variable: str) -> str:
    return (
        variable.lower()
        .replace("___", "-")
        .replace("__", "\0")
        .replace("_", ".")
        .replace("\0", "_")
    )
