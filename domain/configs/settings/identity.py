"""Who this broker is, and where it listens."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST = Kind


class IdentitySettings:
    node_id: int = setting(
        "node.id", INT, 1, "The id of this broker in what clients are told.", minimum=0
    )
    cluster_id: str | None = setting(
        "cluster.id",
        STRING,
        None,
        "The id a new store is given; without it one is drawn, and a store keeps the one it has.",
    )
    broker_rack: str | None = setting(
        "broker.rack", STRING, None, "The rack that clients are told this broker is in."
    )
    listeners: tuple[str, ...] = setting(
        "listeners",
        LIST,
        ("PLAINTEXT://localhost:9092",),
        "Where to listen, as NAME://HOST:PORT; localhost is both loopback addresses, no host every "
        "address, port 0 a free port.",
    )
    advertised_listeners: tuple[str, ...] = setting(
        "advertised.listeners",
        LIST,
        (),
        "What clients are told to connect to, by listener name; for a listener that is not named "
        "here, each client is told the address it connected to.",
    )
    listener_security_protocol_map: tuple[str, ...] = setting(
        "listener.security.protocol.map",
        LIST,
        ("PLAINTEXT:PLAINTEXT",),
        "The security protocol of each listener name, as NAME:PROTOCOL; only PLAINTEXT is built.",
    )
