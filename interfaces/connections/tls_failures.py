"""Why a TLS handshake failed, for the log: reason, detail, hint."""

from __future__ import annotations

import ssl

from interfaces.connections.other_protocols import Rejection

HANDSHAKE_FAILED = "tls_handshake_failed"
HANDSHAKE_TIMEOUT = "tls_handshake_timeout"
#: The type of a record that begins a handshake.
HANDSHAKE_RECORD = 0x16

_UNTRUSTED = (
    "the client does not trust the certificate of the broker",
    "the client needs the authority that signed it (ssl.truststore.location, ssl.ca.location), and "
    "the certificate the host name that the client uses",
)
#: By the reasons of OpenSSL.
_KNOWN: dict[str, tuple[str, str]] = {
    "TLSV1_ALERT_UNKNOWN_CA": _UNTRUSTED,
    "SSLV3_ALERT_BAD_CERTIFICATE": _UNTRUSTED,
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": _UNTRUSTED,
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": (
        "the client reports that the certificate of the broker is expired",
        "renew the certificate; the broker reads a changed file by itself",
    ),
    "PEER_DID_NOT_RETURN_A_CERTIFICATE": (
        "the client sent no certificate, and ssl.client.auth is required",
        "set ssl.keystore.location (or ssl.certificate.location, ssl.key.location) in the client",
    ),
    "NO_SHARED_CIPHER": (
        "client and broker have no cipher suite in common",
        "compare ssl.cipher.suites of both, and the kind of the key of the broker",
    ),
    "UNSUPPORTED_PROTOCOL": (
        "client and broker have no version of TLS in common",
        "compare ssl.enabled.protocols of both",
    ),
}


def rejection_of_failure(failure: Exception) -> Rejection:
    if isinstance(failure, ssl.SSLCertVerificationError):
        return Rejection(
            HANDSHAKE_FAILED,
            f"the certificate of the client was refused: {failure.verify_message}",
            "ssl.truststore of the listener must have the authority that signed it",
            b"",
        )
    reason = (failure.reason if isinstance(failure, ssl.SSLError) else None) or str(failure)
    fallback = reason.lower().replace("_", " "), "ottla doctor shows what clients can do here"
    detail, hint = _KNOWN.get(reason, fallback)
    return Rejection(HANDSHAKE_FAILED, detail, hint, b"")
