"""Why a broker refuses records.

The Produce response has the reason as text (KIP-467), but confluent-kafka 2.16 passes on the error
code only. Sending the record again to read the text could store it twice: the code is explained by
the configs of the topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interfaces.cli.client import SILENCE_S
from interfaces.cli.configs import configs_of
from interfaces.cli.failures import CommandFailed
from interfaces.terminal.client_errors import in_words

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

    from interfaces.cli.client import Clients

#: The topic configs that a broker compares a record with.
_CONFIGS = {
    "INVALID_TIMESTAMP": ("message.timestamp.before.max.ms", "message.timestamp.after.max.ms"),
    "MSG_SIZE_TOO_LARGE": ("max.message.bytes",),
    "INVALID_RECORD": ("cleanup.policy",),
}
_LOOK_AT_THE_LOG = "the log of the broker has the reason"


def why_refused(clients: Clients, error: KafkaError, topic: str) -> str:
    from confluent_kafka import KafkaError

    # librdkafka waits for metadata of a topic and reports the missing one, or first its timeout.
    waited = (KafkaError._MSG_TIMED_OUT, KafkaError.UNKNOWN_TOPIC_OR_PART)
    if error.code() in waited and _is_missing(clients, topic):
        missing = f"topic {topic} does not exist, and the broker does not create it"
        return f"{missing}: `ottla topic create {topic}` may say why"
    if error.code() == KafkaError._MSG_TIMED_OUT:
        # librdkafka retries storage errors and does not report them.
        copies = _copies_required(clients, topic)
        why = clients.newest_error or "; ".join(filter(None, (_LOOK_AT_THE_LOG, copies)))
        outcome = f"not acknowledged by {clients.servers} within {clients.timeout_s:g} s"
        return f"{outcome}{'' if copies else ', and may be written all the same'}: {why}"
    if error.code() == KafkaError.NOT_ENOUGH_REPLICAS:
        return f"refused: {_copies_required(clients, topic) or in_words(error)}"
    facts = [
        config
        for config in configs_in_words(clients, topic, _CONFIGS.get(error.name(), ()))
        if config != "cleanup.policy=delete"  # which refuses no record
    ]
    return f"refused: {in_words(error)}{f'; {topic} has ' if facts else ''}{', '.join(facts)}"


def _copies_required(clients: Clients, topic: str) -> str:
    """By acks=all; empty if one copy is enough."""
    for required in configs_in_words(clients, topic, ("min.insync.replicas",)):
        if not required.endswith("=1"):
            return (
                f"{topic} has {required}: acks=all needs as many replicas in sync, with Ottla "
                "copies in storage (PostgreSQL and its connected synchronous standbys, see `ottla "
                "doctor --storage`)"
            )
    return ""


def _is_missing(clients: Clients, topic: str) -> bool:
    from confluent_kafka import KafkaException

    try:
        return topic not in clients.admin().list_topics(timeout=SILENCE_S).topics
    except (KafkaException, CommandFailed):
        return False


def configs_in_words(clients: Clients, topic: str, names: tuple[str, ...]) -> list[str]:
    """None if the broker does not describe them."""
    if not names:
        return []
    try:
        found = configs_of(clients, clients.admin(), topic)
    except CommandFailed:
        return []
    return [f"{one['name']}={one['value']}" for one in found if one["name"] in names]
