"""ListenerSecurity: the security protocol of one listener, and the values of its settings.

A setting with the prefix `listener.name.NAME.` is for the listener of this name only. Behind the
prefix, settings of SASL may have a mechanism: `listener.name.internal.plain.sasl.jaas.config`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from domain.configs.broker import BrokerConfig
from domain.configs.settings.definition import Definition, Value
from domain.configs.settings.sasl import SASL_MECHANISMS

#: As prefixes of settings.
MECHANISMS = tuple(map(str.lower, SASL_MECHANISMS))
CLIENT_AUTH = "ssl.client.auth"
_PREFIX = "listener.name."
#: The admin side and the raw stream as listeners.
ADMIN, RAW = "admin", "raw"
OWN_PREFIXES = {ADMIN: "admin.", RAW: "raw."}


class SecurityProtocol(Enum):
    PLAINTEXT = "PLAINTEXT"
    SSL = "SSL"
    SASL_PLAINTEXT = "SASL_PLAINTEXT"
    SASL_SSL = "SASL_SSL"

    @property
    def needs_tls(self) -> bool:
        return self in (SecurityProtocol.SSL, SecurityProtocol.SASL_SSL)

    @property
    def needs_sasl(self) -> bool:
        return self in (SecurityProtocol.SASL_PLAINTEXT, SecurityProtocol.SASL_SSL)


class ListenerSecurity:
    __slots__ = ("_config", "_own", "name", "prefix", "protocol")

    def __init__(
        self,
        name: str,
        protocol: SecurityProtocol,
        config: BrokerConfig,
        own: Mapping[str, str] | None = None,
        prefix: str | None = None,
    ) -> None:
        """`own` has the texts of settings with the prefix of this listener, without it."""
        self.name = name
        self.protocol = protocol
        self._config = config
        self._own = dict(own or {})
        self.prefix = listener_prefix(name) if prefix is None else prefix

    @property
    def lacks_for_network(self) -> str:
        """What an admin side needs on an address that is not loopback; empty: nothing."""
        tls = [] if self.protocol.needs_tls else ["TLS (admin.ssl.keystore.location)"]
        users = ["users (admin.authentication)"]
        if self.protocol.needs_sasl or (
            self.protocol.needs_tls and self.value(CLIENT_AUTH) == "required"
        ):
            users = []
        return " and no ".join(tls + users)

    def value(self, name: str, mechanism: str = "") -> Value:
        """That of this listener and mechanism, or of this listener, or of the broker."""
        for key in (f"{mechanism.lower()}.{name}", name):
            if (text := self._own.get(key)) is not None:
                return self._config.definitions[name].parse(text)
        if name == CLIENT_AUTH and self.protocol.needs_sasl:  # as in Kafka (KIP-684)
            return self._config.definitions[name].default
        return self._config.value(name)

    @property
    def ignores_client_auth(self) -> bool:
        """Of all listeners: this one has TLS and SASL, and no setting of its own."""
        ignores = self.protocol is SecurityProtocol.SASL_SSL and CLIENT_AUTH not in self._own
        return ignores and self._config.ssl_client_auth != self.value(CLIENT_AUTH)

    def key_of(self, name: str, mechanism: str = "") -> str:
        """The whole name of the setting that decides, for messages."""
        for key in (f"{mechanism.lower()}.{name}", name):
            if key in self._own:
                return self.prefix + key
        return name


def listener_prefix(name: str) -> str:
    return f"{_PREFIX}{name.lower()}."


def has_listener_prefix(name: str) -> bool:
    """Also of the admin side: `admin.ssl.keystore.location`."""
    for prefix in OWN_PREFIXES.values():
        if name.startswith(prefix):
            return per_listener(name.removeprefix(prefix)) is not None
    return name.startswith(_PREFIX)


def without_mechanism(name: str) -> str:
    """`sasl.jaas.config` of `plain.sasl.jaas.config`."""
    first, _, rest = name.partition(".")
    return rest if first in MECHANISMS else name


def per_listener(name: str) -> Definition | None:
    """The definition of a setting behind the prefix of a listener; None: it cannot be there."""
    definition = BrokerConfig.definitions.get(without_mechanism(name))
    return definition if definition is not None and definition.per_listener else None
