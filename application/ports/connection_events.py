"""Events of connections: a part of the tables of events (events.py)."""

from __future__ import annotations

from application.ports.event import ERROR, INFO, WARNING, Event

#: Of one connection, and of several that were closed for the same reason.
_CONNECTION = "reason detail hint peer listener connection_id client_id connections within_seconds"

CONNECTIONS = {
    "connection_closed": Event(
        WARNING,
        f"{_CONNECTION} correlation_id api waited_seconds",
        "The broker closed connections of a client. Repeated faults of one host are logged once "
        "a minute, with their number in `connections`. Ends that are normal (the client "
        "disconnects, idle connections) are not logged.",
        {
            "authentication_timeout": "The client did not authenticate in "
            "`connection.authentication.timeout.ms`.",
            "fault_injected": "A test requested it (`POST /test/faults`).",
            "http_request": "The client sent HTTP to a Kafka listener: use the address in `hint`.",
            "incomplete_request": "The rest of a request did not arrive in 30 seconds.",
            "internal_error": "The response could not be built: see `request_failed`.",
            "invalid_request_size": "The size is negative, or above `socket.request.max.bytes`.",
            "malformed_tls": "Bytes after the handshake are not TLS, or were changed on the way.",
            "not_tls": "The listener uses TLS, the client does not: `security.protocol=SSL`, or "
            "`https://` for the admin API.",
            "tls_handshake_failed": "Mostly a certificate that one side does not trust.",
            "tls_handshake_timeout": "It was not complete after `ssl.handshake.timeout.ms`.",
            "malformed_request": "The request could not be decoded, or is no raw stream.",
            "produce_failed": "A batch sent with acks=0 was refused or lost. The close is the only "
            "response that such a producer can get, as in Kafka.",
            "not_authenticated": "The listener requires SASL, and the client does not use it: set "
            "`security.protocol`. Or it sent another request between the steps of SASL.",
            "invalid_start": "A raw consumer started within a record, beyond the end, or before "
            "the oldest record (`raw.auto.offset.reset`).",
            "record_refused": "The record of a raw producer was not stored, or has no offset; see "
            "`detail`.",
            "stream_ended": "The topic of a raw consumer was deleted or cannot be read, or another "
            "broker leads its partition; see `detail`.",
            "session_expired": "The client did not authenticate again in time "
            "(`connections.max.reauth.ms`, or the lifetime of its token).",
            "slow_reader": "The client stopped reading its responses while too many responses "
            "were unread in all (`queued.max.response.bytes`), or over HTTP for 30 seconds.",
            "slow_request": "A large request arrived too slowly while others waited for its "
            "memory (`queued.max.request.bytes`).",
            "tls_handshake": "The client uses TLS, the listener does not: set "
            "`security.protocol=PLAINTEXT`, or use `http://` for the admin API.",
            "unsupported_version": "The client used an API or version that ApiVersions does not "
            "list.",
        },
    ),
    "certificate_expires": Event(WARNING, "listener not_after", "It ends within 30 days; daily."),
    "certificate_renewed": Event(
        INFO,
        "listener not_after",
        "New TLS connections of the listener get the certificate that its files have now.",
    ),
    "certificate_refused": Event(
        WARNING,
        "listener error",
        "A changed keystore or truststore cannot be used: the listener goes on with the "
        "one it had.",
    ),
    "connection_refused": Event(
        WARNING,
        _CONNECTION,
        "A limit of connections is reached. Raise it, or find the client that leaks connections.",
        {
            "max_connections": "`max.connections`, of the whole broker.",
            "max_connections_per_ip": "`max.connections.per.ip`, of one address.",
            "connection_creation_rate": "The quota of one address; `ottla` closes the connection "
            "after up to `quota.window.size.seconds`, as Kafka does.",
            "open_files": "The limit of open files (`ulimit -n`, `LimitNOFILE` of systemd).",
        },
    ),
    "admin_listener_unavailable": Event(
        WARNING,
        "address error hint",
        "The default address of the admin API is in use; the broker runs without it.",
    ),
    "admin_server_failed": Event(
        ERROR,
        "reason error traceback",
        "The admin API does not work; Kafka clients are not affected.",
        {
            "start": "The server could not be created.",
            "drain": "The server did not stop properly.",
        },
    ),
}
