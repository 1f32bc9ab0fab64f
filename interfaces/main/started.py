"""Started: facts about a started broker, for the banner, the ready file and the log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from domain.configs.broker import BrokerConfig
from domain.configs.listeners import EVERY_ADDRESS, ListenerAddress
from interfaces.main.settings.sources import Settings
from interfaces.sockets import announced
from interfaces.terminal.addresses import host_port, is_loopback


class Risk(NamedTuple):
    reason: str
    detail: str


class OpenListener:
    """A listener with its bound address."""

    __slots__ = ("_advertised", "address", "host", "port")

    def __init__(
        self,
        address: ListenerAddress,
        host: str,
        port: int,
        config: BrokerConfig,
        *,
        is_announced: bool = False,
    ) -> None:
        """`is_announced`: to other brokers over the same store, which name it in metadata."""
        self.address = address
        self.host = host
        self.port = port
        self._advertised = config.advertised(address.name, port)
        if is_announced:
            self._advertised = announced(self._advertised, (host, port))

    @property
    def bound(self) -> str:
        return host_port(self.host, self.port)

    @property
    def advertised(self) -> str | None:
        """None: the address that each client connected to."""
        return self._advertised and host_port(*self._advertised)

    @property
    def bootstrap(self) -> str:
        """An address for clients on this machine."""
        return host_port("127.0.0.1" if self.host in EVERY_ADDRESS else self.host, self.port)

    @property
    def unreachable(self) -> bool:
        """Open to other machines, but advertises a loopback address to them."""
        return bool(
            self.address.everywhere and self._advertised and is_loopback(self._advertised[0])
        )


class Started:
    __slots__ = (
        "admin",
        "brokers",
        "cluster_id",
        "has_standby",
        "listeners",
        "raw",
        "recovered",
        "settings",
        "version",
    )

    def __init__(
        self,
        settings: Settings,
        version: str,
        cluster_id: str,
        listeners: list[OpenListener],
        recovered: str,
        admin: Sequence[str] = (),
        raw: Sequence[str] = (),
        brokers: str = "",
        has_standby: bool | None = None,
    ) -> None:
        """`brokers`: which of several this one is; `has_standby`: as of the store."""
        self.settings = settings
        self.version = version
        self.cluster_id = cluster_id
        self.listeners = listeners
        self.recovered = recovered
        #: Bound addresses, "host:port".
        self.admin = list(admin)
        self.raw = list(raw)
        self.brokers = brokers
        self.has_standby = has_standby

    @property
    def admin_urls(self) -> list[str]:
        return [f"{self.settings.admin_scheme}://{address}" for address in self.admin]

    @property
    def data_folder(self) -> Path | None:
        folder = self.settings.storage.folder
        return folder.absolute() if folder else None

    @property
    def storage(self) -> str:
        """Without the password."""
        storage = self.settings.storage
        return storage.shown if storage.folder is None else f"{storage.engine}://{self.data_folder}"

    @property
    def flush_meaning(self) -> str:
        """Of a store that is not in memory."""
        broker = self.settings.broker
        if self.settings.storage.in_database:
            if broker.flush == "commit":
                meaning = "PostgreSQL flushes acknowledged records as its synchronous_commit says"
                one_copy = "; no synchronous standby: there is one copy"
                return meaning + (one_copy if self.has_standby is False else "")
            return (
                "PostgreSQL flushes acknowledged records later: a crash of its machine loses those "
                "of up to 0.6 s"
            )
        if broker.flush == "commit":
            return "acknowledged records are on disk and survive a power cut"
        if broker.flush == "interval":
            return (
                f"flushed every {broker.flush_interval_ms} ms: records survive a killed broker; "
                "a power cut loses those after the newest flush"
            )
        return (
            "flushed by the operating system: records survive a killed broker; a power cut may "
            "damage the whole store"
        )

    def risks(self) -> list[Risk]:
        """Settings that an operator should know of before relying on the broker."""
        found = []
        if self.settings.storage.in_memory:
            found.append(Risk("memory_storage", "memory storage: data is lost on exit"))
        if self.settings.broker.testing:
            detail = (
                "testing is on: every client of the admin API can inject faults, advance the "
                "clock, and delete or replace all data"
            )
            found.append(Risk("testing", detail))
        for listener in self.listeners:
            if listener.unreachable:
                detail = (
                    f"listener {listener.address.name} is open to every address but advertises "
                    f"{listener.advertised}: only clients on this machine can connect"
                )
                found.append(Risk("unreachable_listener", detail))
        for address in self.admin:
            missing = self.settings.admin_security.lacks_for_network
            if missing and not is_loopback(address.rpartition(":")[0].strip("[]")):
                detail = (
                    f"the admin API at {address} has no {missing} (admin.insecure.allowed=true)"
                )
                found.append(Risk("open_admin_listener", detail))
        return found
