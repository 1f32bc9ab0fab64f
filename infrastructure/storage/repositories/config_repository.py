"""Configs of brokers and groups as rows, the same for every engine.

configs         kind, NUL, name -> {config: text}; broker "" stands for all brokers
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from application.ports.state_store import StateStore
from domain.configs.resource import Resource, ResourceKind
from domain.errors import StorageFailed

_CONFIGS = "configs"
_NO_CONFIGS = b"{}"
_KINDS = {kind.value: kind for kind in ResourceKind}


class StoredConfigRepository:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def load(self) -> dict[Resource, dict[str, str]]:
        return _resources(self._state.scan(_CONFIGS))

    def save(self, resource: Resource, configs: Mapping[str, str]) -> None:
        row = json.dumps(dict(configs), separators=(",", ":")).encode() if configs else None
        self._state.put(_CONFIGS, f"{resource.kind.value}\0{resource.name}".encode(), row)

    def follow(self, changed: Callable[[Mapping[Resource, Mapping[str, str]]], None]) -> None:
        def rows_changed(keys: Sequence[bytes]) -> None:
            rows = [(key, self._state.get(_CONFIGS, key) or _NO_CONFIGS) for key in keys]
            changed(_resources(rows))

        self._state.follow(_CONFIGS, rows_changed)


def _resources(rows: Sequence[tuple[bytes, bytes]]) -> dict[Resource, dict[str, str]]:
    found = [_resource(key, row) for key, row in rows]
    return dict(one for one in found if one is not None)


def _resource(key: bytes, row: bytes) -> tuple[Resource, dict[str, str]] | None:
    """None: of a kind that another version has; it stays in the store."""
    try:
        kind, _, name = key.decode().partition("\0")
        if kind not in _KINDS:
            return None
        configs = {str(config): str(text) for config, text in json.loads(row).items()}
        return Resource(_KINDS[kind], name), configs
    except (ValueError, AttributeError, RecursionError) as damage:
        raise StorageFailed(f"The store could not read configs {key!r}: {damage!r}") from damage
