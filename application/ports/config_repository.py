from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from domain.configs.resource import Resource


class ConfigRepository(Protocol):
    """Configs of brokers and groups; configs of a topic are persisted with the topic.

    Changes are staged, and persisted by the next commit.
    """

    def load(self) -> dict[Resource, dict[str, str]]: ...

    def save(self, resource: Resource, configs: Mapping[str, str]) -> None:
        """Replaces all configs of the resource; without any its row is deleted."""
        ...

    def follow(self, changed: Callable[[Mapping[Resource, Mapping[str, str]]], None]) -> None:
        """Calls back with all configs of the resources that another broker has altered."""
        ...
