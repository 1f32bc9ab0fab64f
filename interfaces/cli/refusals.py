"""Why a broker does not take records, in words.

The response to Produce has the reason as text (KIP-467), but confluent-kafka 2.16 passes on the
error code only. The record is not sent again to see the text, as it could then be stored twice;
the code is explained from the configs of the topic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interfaces.cli.client import SILENCE_S
from interfaces.cli.failures import CommandFailed
from interfaces.cli.topic_config import configs_of
from interfaces.terminal.client_errors import in_words

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

    from interfaces.cli.client import Clients

#: How librdkafka words KAFKA_STORAGE_ERROR.
_STORAGE = "Disk error"
#: The topic configs that a broker compares a record with.
_CONFIGS = {
    "INVALID_TIMESTAMP": ("message.timestamp.before.max.ms", "message.timestamp.after.max.ms"),
    "MSG_SIZE_TOO_LARGE": ("max.message.bytes",),
}


def why_not_taken(clients: Clients, error: KafkaError, topic: str, has_key: bool) -> str:
    from confluent_kafka import KafkaError

    # librdkafka waits for metadata of a topic and reports the missing one, or first its timeout.
    waited = (KafkaError._MSG_TIMED_OUT, KafkaError.UNKNOWN_TOPIC_OR_PART)
    if error.code() in waited and not clients.retried.newest and _is_missing(clients, topic):
        return f"there is no topic {topic}, and the broker does not create it"
    if error.code() == KafkaError._MSG_TIMED_OUT:
        return _why_timed_out(clients)
    why = f"not taken: {in_words(error)}{_hint(error.str())}"
    if error.name() == "INVALID_RECORD" and not has_key:
        for policy in _configs(clients, topic, ("cleanup.policy",)):
            if "compact" in policy:
                return f"{why}; {topic} has {policy}, and the record has no key"
    facts = _configs(clients, topic, _CONFIGS.get(error.name(), ()))
    return f"{why}; {topic} has {', '.join(facts)}" if facts else why


def _is_missing(clients: Clients, topic: str) -> bool:
    from confluent_kafka import KafkaException

    try:
        # All topics: metadata that is requested for one by its name may create it.
        return topic not in clients.admin().list_topics(timeout=SILENCE_S).topics
    except (KafkaException, CommandFailed):
        return False


def _why_timed_out(clients: Clients) -> str:
    why = clients.retried.newest or clients.complaint
    return (
        f"not acknowledged by {clients.servers} within {clients.timeout_s:g} s"
        f"{f': {why}' if why else ''}{_hint(why)}"
    )


def _hint(text: str) -> str:
    return " (its disk may be full; the broker's log has the reason)" if _STORAGE in text else ""


def _configs(clients: Clients, topic: str, names: tuple[str, ...]) -> list[str]:
    if not names:
        return []
    try:
        found = configs_of(clients, clients.admin(), topic)
    except CommandFailed:
        return []
    return [f"{one['name']}={one['value']}" for one in found if one["name"] in names]
