"""Configs without effect, as the documentation says that the broker gives of its configs.

librdkafka speaks DescribeConfigs up to version 1, and documentation comes with version 3 (KIP-569,
Kafka 2.6), so this needs a connection of its own. A broker that cannot be asked so, because it is
older or requires SASL, has no configs without effect: Ottla is neither.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from domain.configs.settings.definition import SHORTFALLS, Effect
from domain.configs.topic_table import TOPIC_CONFIGS
from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.output import note
from interfaces.cli.probe.wire_client import NoAnswer, WireClient

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

#: By the name of a config: what it lacks, as a sentence without its subject.
Shortfalls = Mapping[str, str]

_TOPIC, _BROKER = 2, 4
_VERSION = 3
_SENTENCES = frozenset(SHORTFALLS.values())


def of_topic(clients: Clients, name: str) -> Shortfalls:
    return _documented(clients, _TOPIC, name)


def planned(clients: Clients, admin: AdminClient) -> Shortfalls:
    """For a dry run, as there is no topic yet: by the broker settings that are the defaults.

    Topic configs without such a setting are looked up in the table of this version, if the broker
    is Ottla: one that documents configs without effect.
    """
    broker = clients.metadata(admin).orig_broker_id
    found = _documented(clients, _BROKER, str(broker))
    if not found:
        return {}
    of_settings = {
        name: found[row.synonyms[0]]
        for name, row in TOPIC_CONFIGS.items()
        if row.synonyms and row.synonyms[0] in found
    }
    of_table = {
        name: SHORTFALLS[row.effect]
        for name, row in TOPIC_CONFIGS.items()
        if not row.synonyms and row.effect in SHORTFALLS
    }
    return of_settings | of_table


def warnings(found: Shortfalls, configs: Mapping[str, str]) -> list[str]:
    """Not of the defaults, nor of a value that is true in a broker without that config."""
    return [
        f"{name} {found[name]}"
        for name, value in configs.items()
        if name in found and not _is_harmless(name, value)
    ]


def _is_harmless(name: str, value: str) -> bool:
    """A broker of a later version may have configs that are not in this table."""
    return name in TOPIC_CONFIGS and TOPIC_CONFIGS[name].is_harmless(value)


def word(found: Shortfalls, name: str) -> str:
    """As REST and docs/settings.md have it in their column `effect`."""
    if name not in found:
        return Effect.BUILT.value
    if found[name] == SHORTFALLS[Effect.PARTLY]:
        return Effect.PARTLY.value
    return Effect.NONE.value


def warn(found: Shortfalls, configs: Mapping[str, str]) -> None:
    for warning in warnings(found, configs):
        note(f"warning: {warning}")


def _documented(clients: Clients, kind: int, name: str) -> Shortfalls:
    from interfaces.kafka.wire.messages.describe_configs import (
        DescribeConfigsRequest,
        DescribeConfigsResource,
        DescribeConfigsResponse,
    )

    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=None
    )
    request = DescribeConfigsRequest(resources=[resource], include_documentation=True)
    try:
        protocol = clients.protocol()
        if protocol.sasl:
            return {}
        address = clients.first_reachable()
        with WireClient(address, clients.timeout_s, protocol.context) as client:
            answer = client.ask(request, _VERSION, DescribeConfigsResponse)
    except (NoAnswer, OSError, CommandFailed):
        return {}
    return {
        config.name: sentence
        for result in answer.results
        for config in result.configs
        if (sentence := _sentence(config.documentation or ""))
    }


def _sentence(documentation: str) -> str | None:
    """The last one, in parentheses: "(Not built yet: it has no effect in this broker.)"."""
    _, _, last = documentation.rpartition(": it ")
    sentence = last.removesuffix(".)")
    return sentence if sentence in _SENTENCES else None
