"""The admin side: the HTTP listeners for REST, metrics and the console; control by tests."""

from __future__ import annotations

from domain.configs.settings.definition import Kind, setting

BOOLEAN, INT, LONG, DOUBLE, STRING, LIST, PASSWORD = Kind


class AdminSettings:
    admin_listeners: tuple[str, ...] = setting(
        "admin.listeners",
        LIST,
        ("localhost:8082",),
        "Where REST, metrics and the console listen, as HOST:PORT; off: nowhere.",
    )
    admin_authentication: str = setting(
        "admin.authentication",
        STRING,
        "none",
        "Who may use the admin side. users: those of the broker, by HTTP Basic, and by Bearer "
        "tokens if `sasl.enabled.mechanisms` has OAUTHBEARER; ACLs decide what each may do. none: "
        "every client is User:ANONYMOUS. Settings of TLS and SASL may have the prefix `admin.`.",
        choices=("none", "users"),
    )
    admin_insecure_allowed: bool = setting(
        "admin.insecure.allowed",
        BOOLEAN,
        False,
        "Whether the admin side may listen beyond loopback without TLS "
        "(`admin.ssl.keystore.location`), or without users and required client certificates.",
    )
    admin_allowed_hosts: tuple[str, ...] = setting(
        "admin.allowed.hosts",
        LIST,
        (),
        "Names for the admin side in the Host header of requests, in addition to the addresses it "
        "listens on, localhost and the names in `advertised.listeners`.",
    )
    access_control_allow_origin: tuple[str, ...] = setting(
        "access.control.allow.origin",
        LIST,
        (),
        "Origins, as http://localhost:3000, whose web pages may use the admin side (CORS); *: all "
        "pages. Without authentication such a page can do everything.",
    )
    admin_max_connections: int = setting(
        "admin.max.connections",
        INT,
        256,
        "The most open connections to the admin side; above it a new one is closed at once.",
        minimum=1,
    )
    admin_request_max_bytes: int = setting(
        "admin.request.max.bytes",
        INT,
        262144,
        "The largest body of a request to the admin side, except for records.",
        minimum=1024,
        unit="bytes",
    )
    testing: bool = setting(
        "testing",
        BOOLEAN,
        False,
        "For tests: REST has /test/, which injects faults, advances the clock, deletes everything, "
        "and takes and restores snapshots.",
    )
