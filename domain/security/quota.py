"""Quotas: who has which limit, with Kafka's rules and messages (KIP-13, 55, 124, 546, 599, 612).

An entity is a user, a client id, both, or an address; its names may be defaults, which stand for
all that have no quota of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address
from typing import NamedTuple

from domain.errors import InvalidRequest

USER, CLIENT_ID, IP = "user", "client-id", "ip"

PRODUCER_BYTE_RATE = "producer_byte_rate"
CONSUMER_BYTE_RATE = "consumer_byte_rate"
REQUEST_PERCENTAGE = "request_percentage"
CONTROLLER_MUTATION_RATE = "controller_mutation_rate"
CONNECTION_CREATION_RATE = "connection_creation_rate"

#: The largest value of a quota that is a whole number, with Java's name of its type; None: any.
_INT: tuple[float, str] = 2.0**31 - 1, "an INT"
_LONG: tuple[float, str] = 2.0**63, "a LONG"
_CLIENT_KEYS: dict[str, tuple[float, str] | None] = {
    PRODUCER_BYTE_RATE: _LONG,
    CONSUMER_BYTE_RATE: _LONG,
    REQUEST_PERCENTAGE: None,
    CONTROLLER_MUTATION_RATE: None,
}
_IP_KEYS: dict[str, tuple[float, str] | None] = {CONNECTION_CREATION_RATE: _INT}
#: Kafka's tolerance for numbers that should be whole.
_EPSILON = 1e-6

#: The name of a default entity; Kafka allows no empty names.
DEFAULT = ""

#: Key -> value.
Quotas = Mapping[str, float]


class QuotaEntity(NamedTuple):
    """Names that are None are not part of the entity; "" is the default."""

    user: str | None = None
    client_id: str | None = None
    ip: str | None = None

    def parts(self) -> Iterator[tuple[str, str | None]]:
        """Type and name, where None is the default, as in requests."""
        for entity_type, name in zip(
            (CLIENT_ID, IP, USER), (self[1], self[2], self[0]), strict=True
        ):
            if name is not None:
                yield entity_type, name or None

    def __str__(self) -> str:
        return text_of_entity(dict(self.parts()))


def text_of_entity(parts: Mapping[str, str | None]) -> str:
    """As Kafka prints it, in messages."""
    pairs = (f"{one}={'null' if name is None else name}" for one, name in sorted(parts.items()))
    return f"ClientQuotaEntity(entries={{{', '.join(pairs)}}})"


def quota_entity(parts: Mapping[str, str | None]) -> QuotaEntity:
    """Checks the entity of a request; a name that is None is the default."""
    if not parts:
        raise InvalidRequest("Invalid empty client quota entity")
    for entity_type, name in parts.items():
        if entity_type not in (USER, CLIENT_ID, IP):
            raise InvalidRequest(f"Unhandled client quota entity type: {entity_type}")
        if name == "":
            raise InvalidRequest(f"Empty {entity_type} not supported")
    if IP in parts and len(parts) > 1:
        raise InvalidRequest(
            "Invalid quota entity combination, IP entity shouldnot be combined with User or "
            "ClientId"
        )
    named = {one: DEFAULT if name is None else name for one, name in parts.items()}
    address = named.get(IP)
    if address:
        _check_address(address)
    return QuotaEntity(named.get(USER), named.get(CLIENT_ID), address)


def _check_address(name: str) -> None:
    """Kafka resolves host names too, once."""
    try:
        ip_address(name)
    except ValueError:
        raise InvalidRequest(f"{name} is not a valid IP or resolvable host.") from None


def altered(entity: QuotaEntity, now: Quotas, ops: Mapping[str, float | None]) -> Quotas:
    """The quotas after the changes; None removes one."""
    keys = _CLIENT_KEYS if entity.ip is None else _IP_KEYS
    then = dict(now)
    for key, value in ops.items():
        if value is None:
            then.pop(key, None)
        else:
            _check_value(keys, key, value)
            then[key] = value
    return then


def _check_value(keys: Mapping[str, tuple[float, str] | None], key: str, value: float) -> None:
    if key not in keys:
        raise InvalidRequest(f"Invalid configuration key {key}")
    if not value > 0:  # also not a number
        raise InvalidRequest(f"Quota {key} must be greater than 0")
    whole = keys[key]
    if whole is None:
        return
    most, name = whole
    if value > most:
        raise InvalidRequest(f"Proposed value for {key} is too large for {name}.")
    if value % 1 > _EPSILON:
        raise InvalidRequest(f"{key} cannot be a fractional value.")


class Scope(NamedTuple):
    """The clients that share a rate: of a user, of a client id, or of both; "": of all."""

    user: str
    client_id: str


#: An entity that may have a quota for a client, and the clients that then share its rate.
Candidate = tuple[QuotaEntity, Scope]


def candidates(user: str, client_id: str) -> Iterable[Candidate]:
    """By precedence, the most specific one first. An empty client id has no quota of its own."""
    both, of_user, of_client = Scope(user, client_id), Scope(user, ""), Scope("", client_id)
    if client_id:
        yield QuotaEntity(user, client_id), both
        yield QuotaEntity(user, DEFAULT), both
    yield QuotaEntity(user), of_user
    if client_id:
        yield QuotaEntity(DEFAULT, client_id), both
        yield QuotaEntity(DEFAULT, DEFAULT), both
    yield QuotaEntity(DEFAULT), of_user
    if client_id:
        yield QuotaEntity(None, client_id), of_client
        yield QuotaEntity(None, DEFAULT), of_client
