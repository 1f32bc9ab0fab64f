"""The ids of the broker, and its listeners."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


class IdentitySettings:
    node_id: int = setting("node.id", INT, 1, "The id of this broker.", minimum=0)
    cluster_id: str | None = setting(
        "cluster.id",
        STRING,
        None,
        "The cluster id of a new store; not set: a random one. An existing store has its own.",
    )
    broker_rack: str | None = setting(
        "broker.rack", STRING, None, "The rack of this broker in metadata."
    )
    replica_selector_class: str = setting(
        "replica.selector.class",
        STRING,
        "",
        "With Kafka's rack-aware selector, consumers with client.rack fetch records that are in "
        "objects from a replica in their rack; empty: from the leader. For all brokers of a "
        "cluster alike.",
        choices=("", RACK_AWARE),
    )
    listeners: tuple[str, ...] = setting(
        "listeners",
        LIST,
        ("PLAINTEXT://localhost:9092",),
        "Where to listen, as NAME://HOST:PORT; localhost is both loopback addresses, an empty host "
        "every address, port 0 a free port.",
    )
    advertised_listeners: tuple[str, ...] = setting(
        "advertised.listeners",
        LIST,
        (),
        "The address in metadata, by listener name; for a listener that is not named here, the "
        "address that the client connected to, or, with several brokers, the one it listens on.",
        dynamic=True,
    )
    listener_security_protocol_map: tuple[str, ...] = setting(
        "listener.security.protocol.map",
        LIST,
        ("SASL_SSL:SASL_SSL", "PLAINTEXT:PLAINTEXT", "SSL:SSL", "SASL_PLAINTEXT:SASL_PLAINTEXT"),
        "Security protocol of each listener name, as NAME:PROTOCOL. If neither it nor settings of "
        "TLS or SASL are set, a name that is no protocol is PLAINTEXT.",
    )
