"""The security of listeners: their protocols, and settings with `listener.name.NAME.`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from domain.configs.broker import BrokerConfig
from domain.configs.listener_security import (
    ADMIN,
    OWN_PREFIXES,
    RAW,
    ListenerSecurity,
    SecurityProtocol,
    has_listener_prefix,
    listener_prefix,
    per_listener,
)
from domain.configs.settings.absent import why_absent
from domain.errors import InvalidConfig
from interfaces.main.settings.origin import Given, SettingsError, wrong_value

PROTOCOLS = tuple(SecurityProtocol.__members__)
NO_SUCH_LISTENER = "no listener of clients has this name"
#: With such settings each listener needs its protocol: PLAINTEXT could be a mistake.
_NAMED_IN_MAP = ("listener.security.protocol.map", "ssl.", "sasl.")
_KEYSTORE = ("ssl.keystore.location", "ssl.keystore.key")
#: By whether it has TLS, and users.
_PROTOCOLS = {
    (False, False): "PLAINTEXT",
    (True, False): "SSL",
    (False, True): "SASL_PLAINTEXT",
    (True, True): "SASL_SSL",
}
NOT_PER_LISTENER = "it is the same for all listeners"


def parse_protocol_map(texts: Iterable[str]) -> dict[str, SecurityProtocol]:
    protocols: dict[str, SecurityProtocol] = {}
    for text in texts:
        name, colon, protocol = (part.strip().upper() for part in text.partition(":"))
        if not name or not colon or protocol not in PROTOCOLS:
            raise ValueError(f"NAME:PROTOCOL, with a protocol of {', '.join(PROTOCOLS)}")
        protocols[name] = SecurityProtocol(protocol)
    return protocols


def protocol_of(
    name: str, config: BrokerConfig, own: Mapping[str, str] | None = None
) -> SecurityProtocol:
    """Raises ValueError with the expected text. `own`: settings of this listener."""
    protocols = parse_protocol_map(config.listener_security_protocol_map)
    if name in protocols:
        return protocols[name]
    if name in PROTOCOLS:
        return SecurityProtocol(name)
    # As in Kafka; but a broker without users may have listeners of any name.
    if any(one.startswith(_NAMED_IN_MAP) for one in (*config.given, *(own or ()))):
        raise ValueError(f"a protocol of each listener; that of {name} is missing")
    return SecurityProtocol.PLAINTEXT


class PrefixedSettings:
    """The settings with `listener.name.`: by listener, and those without effect by reason."""

    def __init__(self, given: Mapping[str, Given], listeners: Iterable[str]) -> None:
        """Raises SettingsError for a value that is not allowed."""
        #: The longest first: names may have dots.
        names = sorted(listeners, key=len, reverse=True)
        self._prefixes = {name: listener_prefix(name) for name in names} | OWN_PREFIXES
        self._own: dict[str, dict[str, str]] = {name: {} for name in self._prefixes}
        self.without_effect: dict[str, str] = {}
        self.unknown: list[str] = []
        for name in filter(has_listener_prefix, sorted(given)):
            self._add(name, given[name])

    def _add(self, name: str, given: Given) -> None:
        owners = (one for one, prefix in self._prefixes.items() if name.startswith(prefix))
        owner = next(owners, None)
        if owner is None:
            self.without_effect[name] = NO_SUCH_LISTENER
            return
        key = name.removeprefix(self._prefixes[owner])
        if (definition := per_listener(key)) is not None:
            try:
                definition.parse(given.text)
            except InvalidConfig as refusal:
                raise wrong_value(definition, given, name=name) from refusal
            self._own[owner][key] = given.text
        elif key in BrokerConfig.definitions:
            self.without_effect[name] = NOT_PER_LISTENER
        elif (reason := why_absent(key)) is not None:
            self.without_effect[name] = reason
        else:
            self.unknown.append(name)

    def security_of(self, name: str, config: BrokerConfig) -> ListenerSecurity:
        """Raises ValueError with the expected text."""
        return ListenerSecurity(
            name, protocol_of(name, config, self._own[name]), config, self._own[name]
        )

    def of_admin(self, config: BrokerConfig) -> ListenerSecurity:
        """TLS is on with a keystore of its own."""
        return self._own_security(ADMIN, config, config.admin_authentication == "users")

    def of_raw(self, config: BrokerConfig) -> ListenerSecurity:
        """As that of the admin side, but without users. Raises SettingsError."""
        own, prefix = self._own[RAW], OWN_PREFIXES[RAW]
        if own and own.keys().isdisjoint(_KEYSTORE):
            raise SettingsError(
                f"{prefix}{min(own)} needs {prefix}{_KEYSTORE[0]}, which turns TLS on"
            )
        return self._own_security(RAW, config, users=False)

    def _own_security(self, name: str, config: BrokerConfig, users: bool) -> ListenerSecurity:
        own = self._own[name]
        protocol = SecurityProtocol(_PROTOCOLS[not own.keys().isdisjoint(_KEYSTORE), users])
        return ListenerSecurity(name, protocol, config, own, OWN_PREFIXES[name])
