"""Events of users, authentication and access: a part of the tables of events (events.py)."""

from __future__ import annotations

from application.ports.event import INFO, WARNING, Event

SECURITY = {
    "authentication_failed": Event(
        WARNING,
        "reason detail principal mechanism peer listener connection_id client_id correlation_id "
        "connections within_seconds",
        "A client could not authenticate, and its connection was closed. `principal` is who it "
        "claims to be. Failures of one host are logged once a minute, with their number in "
        "`connections` and the fields of the last one.",
        {
            "authorization_id": "The client wants to act as another user.",
            "invalid_credentials": "Unknown user or wrong password.",
            "invalid_token": "A token of OAUTHBEARER is not valid: see `detail`.",
            "malformed_token": "The client's bytes are not those of its mechanism.",
            "mechanism_changed": "The client authenticated again by another mechanism.",
            "no_sasl": "The listener has no SASL, and the client uses it: set "
            "`security.protocol` to PLAINTEXT or SSL. The connection stays open, as in Kafka.",
            "principal_changed": "The client authenticated again as another user.",
            "too_many_logins": "Too many passwords wait to be verified, or the client disconnected "
            "before its own was.",
            "unsupported_mechanism": "Not in `sasl.enabled.mechanisms` of the listener.",
        },
    ),
    "token_keys_unavailable": Event(
        WARNING,
        "url error traceback",
        "The keys of `sasl.oauthbearer.jwks.endpoint.url` cannot be fetched. Logged once until "
        "they can.",
    ),
    "user_credential_altered": Event(
        INFO,
        "user mechanism action principal client_id peer",
        "SCRAM credentials of a user were set or deleted.",
    ),
}

ACCESS = {
    "authorization_denied": Event(
        WARNING,
        "principal client_id peer api operation resource_type resource correlation_id denials "
        "within_seconds",
        "A client lacked a right, and got an error. Denials of one operation on resources of one "
        "type are logged once a minute for each API, host and principal, with their number in "
        "`denials` and the last `resource`. Create an ACL, or find out why the client tries it.",
    ),
}
