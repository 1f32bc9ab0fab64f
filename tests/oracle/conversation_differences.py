"""SASL conversations whose responses are not those of Kafka, for `docs/behaviour.md`."""

from __future__ import annotations

from typing import NamedTuple


class ConversationDifference(NamedTuple):
    #: Of the names of conversations.
    pattern: str
    what: str
    kafka: str
    ours: str
    reason: str


CONVERSATION_DIFFERENCES = (
    ConversationDifference(
        r"SCRAM.*: (unknown user|first: an escape in the user)",
        "SCRAM: an unknown user",
        "refused with the first message",
        "refused with the proof",
        "nobody learns which users there are",
    ),
    ConversationDifference(
        r"SCRAM.*: first: tokenauth",
        "SCRAM: `tokenauth=true`",
        "looks for a delegation token",
        "looks for a user",
        "there are no delegation tokens",
    ),
    ConversationDifference(
        r"SCRAM.*: first: a reserved extension",
        "SCRAM: the reserved extension `m`",
        "accepted",
        "refused",
        "RFC 5802 wants it to be refused",
    ),
    ConversationDifference(
        r"OAUTHBEARER: another scheme",
        "OAUTHBEARER: another scheme than Bearer",
        "the connection is closed",
        "SASL_AUTHENTICATION_FAILED, then closed",
        "the client learns why",
    ),
    ConversationDifference(
        r"(again, )?after the handshake: (Metadata|ApiVersions|handshake)",
        "another request between SaslHandshake and SaslAuthenticate",
        "ILLEGAL_SASL_STATE, then closed",
        "the connection is closed",
        "no other request is decoded meanwhile; the log says why",
    ),
    ConversationDifference(
        r"again: another mechanism.*",
        "authenticating again by another mechanism",
        "the connection is closed",
        "SASL_AUTHENTICATION_FAILED, then closed",
        "the client learns why",
    ),
)
