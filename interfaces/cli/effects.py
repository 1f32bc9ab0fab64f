"""Configs without effect in an Ottla broker: warnings, and the column EFFECT.

An Ottla broker is recognised by a setting that Kafka does not have; the effects are those of the
table of this version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from domain.configs.resource import ResourceKind
from domain.configs.settings.definition import Effect
from domain.configs.topic_table import TOPIC_CONFIGS
from interfaces.cli.client import Clients
from interfaces.cli.failures import CommandFailed
from interfaces.cli.output import note

if TYPE_CHECKING:
    from confluent_kafka.admin import AdminClient

_SETTING_OF_OTTLA = "admin.listeners"


def is_ottla(clients: Clients, admin: AdminClient) -> bool:
    from confluent_kafka.admin import ConfigResource

    resource = ConfigResource(ConfigResource.Type.BROKER, str(clients.broker_id(admin)))
    try:
        [future] = admin.describe_configs([resource], request_timeout=clients.timeout_s).values()
        return _SETTING_OF_OTTLA in clients.result("the configs of the broker", future, admin)
    except CommandFailed:  # not authorized, or a controller
        return False


def warnings(
    clients: Clients, admin: AdminClient, configs: Mapping[str, str], kind: str = "topic"
) -> list[str]:
    """Not of defaults, nor of a value that describes what the broker does."""
    from domain.configs.effects import without_effect

    found = [one.warning for one in without_effect(ResourceKind(kind), configs)]
    return found if found and is_ottla(clients, admin) else []


def warn(
    clients: Clients, admin: AdminClient, configs: Mapping[str, str], kind: str = "topic"
) -> None:
    for warning in warnings(clients, admin, configs, kind):
        note(f"warning: {warning}")


def effect(name: str) -> str:
    """In an Ottla broker."""
    return TOPIC_CONFIGS[name].effect.word if name in TOPIC_CONFIGS else Effect.BUILT.word
