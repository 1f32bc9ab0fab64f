"""Validates filters of DescribeClientQuotas (KIP-546), with Kafka's messages."""

from __future__ import annotations

from collections.abc import Iterable

from domain.errors import InvalidRequest, UnsupportedVersion

USER, CLIENT_ID, IP = "user", "client-id", "ip"
#: Kafka's names of the match types.
MATCH_TYPES = {0: "MATCH_TYPE_EXACT", 1: "MATCH_TYPE_DEFAULT", 2: "MATCH_TYPE_SPECIFIED"}
EXACT = 0


def check_quota_filter(components: Iterable[tuple[str, int, str | None]]) -> None:
    """Each component is an entity type, a match type and the name to match."""
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
