"""Settings of all sources: command line > environment > file > those of `ottla serve --secure` >
default.

A value that is not allowed stops the start, and so does an unknown name on the command line. Those
of files and of the environment do not: a warning names them. A server.properties for Kafka has many
keys without effect here: another warning names those and the controller listeners, with reasons.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from domain.configs.broker import BrokerConfig
from domain.configs.group import validate_group_configs
from domain.configs.ip_overrides import parse_ip_overrides
from domain.configs.listener_security import (
    ADMIN,
    CLIENT_AUTH,
    RAW,
    ListenerSecurity,
    has_listener_prefix,
)
from domain.configs.listeners import ListenerAddress, check_advertised, parse_addresses
from domain.configs.settings.absent import NO_CONTROLLERS, why_absent
from domain.configs.topic_table import not_a_setting
from domain.errors import BrokerError, InvalidConfig
from domain.security.principal import parse_principals
from domain.topics.topic import check_new_topic_name
from interfaces.main.settings.environment import settings_from_environment
from interfaces.main.settings.files import read_settings_file
from interfaces.main.settings.listeners import check_origins, parse_unnamed
from interfaces.main.settings.origin import (
    COMMAND_LINE,
    DEFAULT,
    Given,
    SettingsError,
    wrong_value,
)
from interfaces.main.settings.sasl import WrongSasl, check_sasl
from interfaces.main.settings.secured import secured_settings, with_secured
from interfaces.main.settings.security import PrefixedSettings
from interfaces.main.settings.storage import (
    OffsetsElsewhere,
    OffsetsSettings,
    StorageSettings,
    parse_offsets,
    parse_storage,
)
from interfaces.suggestions import did_you_mean
from interfaces.terminal.addresses import is_loopback

#: Alternative names; the real name of the same source wins.
ALIASES = {"broker.id": "node.id", "log.dir": "log.dirs"}
# Kafka: broker.id is not set.
_NO_BROKER_ID = "-1"
# Not a setting: the listeners that are not opened.
_CONTROLLER_LISTENERS = "controller.listener.names"
# Where the data folder is.
_PLACE = ("log.dirs", "storage")


class Settings:
    """All settings with their origins."""

    __slots__ = (
        "_without_effect", "admin", "admin_security", "broker", "file", "given", "listeners",
        "offsets", "raw", "raw_security", "security", "storage", "warnings",
    )  # fmt: skip

    def __init__(self, given: Mapping[str, Given], file: Path | None) -> None:
        self.file = file
        self.given = {name: given[name] for name in given if name in BrokerConfig.definitions}
        #: One line each, for the log.
        self.warnings: list[str] = []
        #: Names by the reason.
        self._without_effect: dict[str, list[str]] = {}
        unknown: list[str] = []
        for name in sorted(given.keys() - BrokerConfig.definitions.keys()):
            if has_listener_prefix(name):
                continue
            if (reason := why_absent(name)) is not None:
                self._has_no_effect(name, reason)
            elif given[name].origin.startswith(COMMAND_LINE):
                raise SettingsError(not_a_setting(name) or f"unknown setting {_with_hint(name)}")
            elif (why := not_a_setting(name)) is not None:
                self.warnings.append(why)
            else:
                unknown.append(_with_hint(name))
        self.broker = self._broker()
        self._check_super_users()
        for name, known in sorted(self.given.items()):
            definition = BrokerConfig.definitions[name]
            if definition.lacks_effect(known.text):
                self._has_no_effect(name, definition.effect.value)
        self.listeners = self._listeners(_controller_names(given))
        #: By the name of the listener.
        self.security = self._security(given, unknown)
        self.admin = self._admin()
        self.raw = self._raw()
        self.storage = self._storage()
        self.offsets = self._offsets()
        if self._without_effect:
            reasons = self._without_effect.items()
            shown = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons)
            self.warnings.append(f"settings with no effect here: {shown}")
        if unknown:
            self.warnings.append(f"unknown settings: {', '.join(unknown)}")

    @property
    def all_security(self) -> dict[str, ListenerSecurity]:
        """Of all listeners that are opened."""
        admin = {ADMIN: self.admin_security} if self.admin else {}
        return self.security | admin | ({RAW: self.raw_security} if self.raw else {})

    @property
    def admin_scheme(self) -> str:
        return "https" if self.admin_security.protocol.needs_tls else "http"

    def origin(self, name: str) -> str:
        return self.given[name].origin if name in self.given else DEFAULT

    def _has_no_effect(self, name: str, reason: str) -> None:
        self._without_effect.setdefault(reason, []).append(name)

    def _broker(self) -> BrokerConfig:
        for name, given in self.given.items():
            definition = BrokerConfig.definitions[name]
            try:
                definition.parse(given.text)
            except InvalidConfig as refusal:
                raise wrong_value(definition, given) from refusal
        broker = BrokerConfig({name: given.text for name, given in self.given.items()})
        try:
            # Kafka does not start either with a default that no group may have.
            validate_group_configs({}, broker)
        except InvalidConfig as refusal:
            raise SettingsError(f"group.{refusal}") from refusal
        return broker

    def _check_super_users(self) -> None:
        try:
            parse_principals(self.broker.super_users)
        except ValueError as failure:
            raise self._refused("super.users", str(failure)) from failure

    def _listeners(self, controllers: frozenset[str]) -> tuple[ListenerAddress, ...]:
        try:
            name = "listeners"
            addresses = parse_addresses(self.broker.listeners)
            name = "advertised.listeners"
            names = [*addresses, *(controllers - addresses.keys())]
            check_advertised(self.broker.advertised_listeners, names)
            name = "max.connections.per.ip.overrides"
            parse_ip_overrides(self.broker.max_connections_per_ip_overrides)
        except ValueError as failure:
            raise self._refused(name, str(failure)) from failure
        ours = [address for address in addresses.values() if address.name not in controllers]
        for name in addresses:
            if name in controllers:
                self._has_no_effect(f"listener {name}", NO_CONTROLLERS)
        if not ours:
            raise self._refused("listeners", "at least one listener for clients")
        return tuple(ours)

    def _security(
        self, given: Mapping[str, Given], unknown: list[str]
    ) -> dict[str, ListenerSecurity]:
        names = [address.name for address in self.listeners]
        prefixed = PrefixedSettings(given, names)
        for name in prefixed.unknown:
            if given[name].origin.startswith(COMMAND_LINE):
                raise SettingsError(f"unknown setting {name}")
        unknown += prefixed.unknown
        for name, reason in prefixed.without_effect.items():
            self._has_no_effect(name, reason)
        try:
            found = {name: prefixed.security_of(name, self.broker) for name in names}
        except ValueError as failure:
            raise self._refused("listener.security.protocol.map", str(failure)) from failure
        for address in self.listeners:
            try:
                check_sasl(found[address.name])
            except WrongSasl as failure:
                raise SettingsError(f"listener {address}: {failure}") from failure
        self.admin_security = prefixed.of_admin(self.broker)
        try:
            check_sasl(self.admin_security)
        except WrongSasl as failure:
            raise SettingsError(f"admin.authentication = users: {failure}") from failure
        self.raw_security = prefixed.of_raw(self.broker)
        for one in (*found.values(), self.admin_security):
            if one.ignores_client_auth:
                self.warnings.append(
                    f"{CLIENT_AUTH} is not for listeners with SASL, as {one.name}: "
                    f"set {one.prefix}{CLIENT_AUTH}"
                )
        return found

    def _admin(self) -> tuple[ListenerAddress, ...]:
        """Where the admin side listens."""
        try:
            name = "access.control.allow.origin"
            check_origins(self.broker.access_control_allow_origin)
            name = "admin.listeners"
            found = parse_unnamed(self.broker.admin_listeners)
        except ValueError as failure:
            raise self._refused(name, str(failure)) from failure
        missing = self.admin_security.lacks_for_network
        if missing and not self.broker.admin_insecure_allowed:
            for address in found:
                if not is_loopback(address.host):
                    raise SettingsError(
                        f"admin.listeners ({self.origin(name)}): {address.host or '*'}:"
                        f"{address.port} is not loopback, and the admin side has no {missing}; "
                        "if this is meant, set admin.insecure.allowed=true"
                    )
        return found

    def _raw(self) -> tuple[ListenerAddress, ...]:
        """Where the raw stream listens."""
        try:
            check_new_topic_name(self.broker.raw_topic)
        except BrokerError as failure:
            raise self._refused("raw.topic", f"the name of a topic: {failure}") from failure
        try:
            return parse_unnamed(self.broker.raw_listeners)
        except ValueError as failure:
            raise self._refused("raw.listeners", str(failure)) from failure

    def _storage(self) -> StorageSettings:
        folders = self.broker.log_dirs
        if not folders:
            raise self._refused("log.dirs", "a folder")
        if len(folders) > 1:
            self.warnings.append(f"of log.dirs only the first folder is used: {folders[0]}")
        try:
            storage = parse_storage(self.broker.storage, Path(folders[0]))
        except ValueError as failure:
            raise self._refused("storage", str(failure)) from failure
        if storage.in_database and self.broker.testing:
            why = "it has no snapshots"
            raise self._not_allowed_with_storage("testing", why, storage)
        data, url = (self.origin(name).startswith(COMMAND_LINE) for name in ("log.dirs", "storage"))
        if data and storage.in_database:
            why = "all data is in the database"
            raise self._not_allowed_with_storage("log.dirs", why, storage)
        if storage.in_database:
            if "offsets.topic" in self.given and self.broker.offsets_topic == "off":
                why = "brokers find the coordinators of groups by the topic"
                raise self._not_allowed_with_storage("offsets.topic", why, storage)
            self.broker.offsets_topic = "on"
            self._check_heartbeats()
        if not data or storage.folder in (None, Path(folders[0])):
            return storage
        if url:
            raise SettingsError(
                f"two data folders: {folders[0]} (log.dirs) and {storage.folder} (storage)"
            )
        return StorageSettings(storage.engine, Path(folders[0]))

    def _check_heartbeats(self) -> None:
        """Kafka logs an error and starts."""
        session_ms = self.broker.broker_session_timeout_ms
        if self.broker.broker_heartbeat_interval_ms * 2 > session_ms:
            name = "broker.session.timeout.ms"
            allowed = f"at most half of {name} = {session_ms} ({self.origin(name)})"
            raise self._refused("broker.heartbeat.interval.ms", allowed)

    def _offsets(self) -> OffsetsSettings:
        try:
            offsets = parse_offsets(self.broker.offsets, self.storage)
        except ValueError as failure:
            raise self._refused("offsets", str(failure)) from failure
        except OffsetsElsewhere as failure:
            raise self._not_allowed_with_storage("offsets", failure) from failure
        if offsets.url is not None and self.broker.offsets_topic == "on":
            raise SettingsError(
                f"offsets.topic = on ({self.origin('offsets.topic')}) is not allowed with "
                f"offsets = {offsets.shown}: its records share the commits of the store"
            )
        return offsets

    def _not_allowed_with_storage(
        self, name: str, why: object, storage: StorageSettings | None = None
    ) -> SettingsError:
        shown = (storage or self.storage).shown
        return SettingsError(
            f"{name} ({self.origin(name)}) is not allowed with storage = {shown}: {why}"
        )

    def _refused(self, name: str, allowed: str) -> SettingsError:
        definition = BrokerConfig.definitions[name]
        default = Given(definition.format(definition.default) or "", DEFAULT)
        return wrong_value(definition, self.given.get(name, default), allowed)


def _with_hint(name: str) -> str:
    """No name of Kafka is so close to another."""
    return name + did_you_mean(name, BrokerConfig.definitions, 0.9)


def load_settings(
    command_line: Mapping[str, Given],
    environment: Mapping[str, str],
    file: Path | None = None,
    *,
    secure: bool = False,
) -> Settings:
    """`secure`: of a folder that --secure will secure, too."""
    from_file = read_settings_file(file) if file is not None else {}
    joined: dict[str, Given] = {}
    for source in (from_file, settings_from_environment(environment), command_line):
        joined.update(_without_aliases(source))
    place = {name: joined[name] for name in _PLACE if name in joined}
    secured = secured_settings(Settings(place, file).storage.folder, secure=secure)
    return Settings(with_secured(joined, secured) if secured else joined, file)


def _without_aliases(source: Mapping[str, Given]) -> dict[str, Given]:
    found = dict(source)
    for alias, name in ALIASES.items():
        given = found.pop(alias, None)
        if given is not None and given.text.strip() != _NO_BROKER_ID:
            found.setdefault(name, given)
    return found


def _controller_names(given: Mapping[str, Given]) -> frozenset[str]:
    listed = given[_CONTROLLER_LISTENERS].text if _CONTROLLER_LISTENERS in given else "CONTROLLER"
    return frozenset(name.strip().upper() for name in listed.split(","))
