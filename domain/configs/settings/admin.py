"""The admin side: HTTP beside the Kafka listeners."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST = Kind


class AdminSettings:
    admin_listeners: tuple[str, ...] = setting(
        "admin.listeners",
        LIST,
        ("localhost:8082",),
        "Where REST, metrics and the console listen, as HOST:PORT; off: nowhere. Whoever can "
        "connect there can do everything.",
    )
    admin_allowed_hosts: tuple[str, ...] = setting(
        "admin.allowed.hosts",
        LIST,
        (),
        "Names by which browsers may call the admin side, beside the addresses it listens on and "
        "localhost.",
    )
    admin_max_connections: int = setting(
        "admin.max.connections",
        INT,
        256,
        "Connections to the admin side at once; one more is closed as soon as it is accepted.",
        minimum=1,
    )
    admin_request_max_bytes: int = setting(
        "admin.request.max.bytes",
        INT,
        262144,
        "The largest body of a request to the admin side, but for records.",
        minimum=1024,
        unit="bytes",
    )
