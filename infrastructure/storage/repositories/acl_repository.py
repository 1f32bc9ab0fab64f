"""ACLs as rows, the same for every engine.

acls            SHA-256 of the row -> [resource type, name, pattern, principal, host, operation,
                permission]

A row has the digest as its key because names may be longer than keys of an engine.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256

from application.ports.state_store import StateStore
from domain.errors import StorageFailed
from domain.security.access import Operation, ResourceType
from domain.security.acl import AclBinding, PatternType, Permission

_ACLS = "acls"


class StoredAclRepository:
    __slots__ = ("_state",)

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def load(self) -> list[AclBinding]:
        return [_binding(key, row) for key, row in self._state.scan(_ACLS)]

    def save(self, binding: AclBinding, exists: bool) -> None:
        row = _row(binding)
        self._state.put(_ACLS, sha256(row).digest(), row if exists else None)

    def follow(self, changed: Callable[[list[AclBinding]], None]) -> None:
        self._state.follow(_ACLS, lambda _: changed(self.load()))


def _row(binding: AclBinding) -> bytes:
    values = [
        one if isinstance(one, str) else one.value  # enums have the words of Kafka's tools
        for one in binding
    ]
    return json.dumps(values, separators=(",", ":")).encode()


def _binding(key: bytes, row: bytes) -> AclBinding:
    """Access control needs every row: a denial that this version cannot read would be lost."""
    try:
        resource_type, name, pattern, principal, host, operation, permission = json.loads(row)
        return AclBinding(
            ResourceType(resource_type),
            str(name),
            PatternType(pattern),
            str(principal),
            str(host),
            Operation(operation),
            Permission(permission),
        )
    except (ValueError, TypeError, RecursionError) as damage:
        raise StorageFailed(f"The store could not read ACL {key.hex()}: {damage!r}") from damage
