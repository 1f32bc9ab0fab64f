"""QuotaFilter: the filter of DescribeClientQuotas (KIP-546), with Kafka's messages."""

from __future__ import annotations

from collections.abc import Iterable

from domain.errors import InvalidRequest, UnsupportedVersion
from domain.security.quota import CLIENT_ID, IP, USER, QuotaEntity

#: Kafka's names of the match types.
MATCH_TYPES = {0: "MATCH_TYPE_EXACT", 1: "MATCH_TYPE_DEFAULT", 2: "MATCH_TYPE_SPECIFIED"}
EXACT = 0
SPECIFIED = 2

#: An entity type, a match type and the name to match.
Component = tuple[str, int, str | None]


class QuotaFilter:
    def __init__(self, components: Iterable[Component], strict: bool) -> None:
        """`strict`: entities have the types of the components only."""
        self._components = list(components)
        check_quota_filter(self._components)
        self._strict = strict

    def fits(self, entity: QuotaEntity) -> bool:
        parts = dict(entity.parts())
        if self._strict and len(parts) != len(self._components):
            return False
        return all(
            entity_type in parts and (match_type == SPECIFIED or parts[entity_type] == match)
            for entity_type, match_type, match in self._components
        )


def check_quota_filter(components: Iterable[Component]) -> None:
    types: set[str] = set()
    for entity_type, match_type, match in components:
        _check_type(entity_type, types)
        types.add(entity_type)
        _check_match(match_type, match)
    if IP in types and len(types) > 1:
        raise InvalidRequest(
            "Invalid entity filter component combination. IP filter component should not be used "
            "with user or clientId filter component."
        )


def _check_type(entity_type: str, before: set[str]) -> None:
    if not entity_type:
        raise InvalidRequest("Invalid empty entity type.")
    if entity_type in before:
        raise InvalidRequest(
            f"Entity type {entity_type} cannot appear more than once in the filter."
        )
    if entity_type not in (USER, CLIENT_ID, IP):
        raise UnsupportedVersion(f"Unsupported entity type {entity_type}")


def _check_match(match_type: int, match: str | None) -> None:
    name = MATCH_TYPES.get(match_type)
    if name is None:
        raise InvalidRequest(f"Unknown match type {match_type}")
    if match_type == EXACT and match is None:
        raise InvalidRequest(f"Request specified {name}, but set match string to null.")
    if match_type != EXACT and match is not None:
        raise InvalidRequest(f"Request specified {name}, but also specified a match string.")
