from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from domain.configs.resource import Resource


class ConfigRepository(Protocol):
    """What was set for brokers and groups; a topic's configs are kept with the topic.

    Staged like everything else: what is saved here is kept by the next commit.
    """

    def load(self) -> dict[Resource, dict[str, str]]: ...

    def save(self, resource: Resource, configs: Mapping[str, str]) -> None:
        """All that is set for it from now on; without any it is forgotten."""
        ...
