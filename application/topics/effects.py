"""Warns about configs without effect: one line per resource of a request."""

from __future__ import annotations

from collections.abc import Sequence

from application.ports.event_log import EventLog
from domain.configs.resource import Resource
from domain.configs.settings.definition import Definition


def warn_without_effect(
    events: EventLog, resource: Resource, configs: Sequence[Definition]
) -> None:
    """Logs names only: a value may be a secret."""
    if configs:
        events.warning(
            "config_without_effect",
            resource=resource.kind.value,
            name=resource.name,
            configs=sorted(config.name for config in configs),
        )
