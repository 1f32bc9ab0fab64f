"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677), without channel binding.

    client first   n,,n=USER,r=NONCE
    server first   r=NONCE and more of it,s=SALT,i=ITERATIONS
    client final   c=biws,r=the whole NONCE,p=PROOF
    server final   v=SIGNATURE

An unknown user gets a salt as a known one does, and fails with the proof, as a wrong password does.
"""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from typing import NamedTuple

from application.security.conversation import (
    INVALID_CREDENTIALS,
    MALFORMED,
    OTHER_IDENTITY,
    Authenticated,
    Challenge,
    Outcome,
)
from application.security.users import Users
from domain.security.principal import Principal
from domain.security.scram import ScramCredential, ScramMechanism

_NAME = r"(?:[^\0=,]|=2C|=3D)+"
_NONCE = r"[\x21-\x2b\x2d-\x7e]+"
_EXTENSIONS = r"(?:,[A-Za-z]+=[^\0,]+)*"
_CLIENT_FIRST = re.compile(
    rf"(?P<header>n,(?:a=(?P<authzid>{_NAME}))?,)"
    rf"(?P<bare>n=(?P<user>{_NAME}),r=(?P<nonce>{_NONCE}){_EXTENSIONS})"
)
_CLIENT_FINAL = re.compile(
    rf"(?P<bare>c=(?P<binding>[A-Za-z0-9+/=]+),r=(?P<nonce>{_NONCE}){_EXTENSIONS})"
    r",p=(?P<proof>[A-Za-z0-9+/=]+)"
)
#: Java's client sends the binding of this header with an authorization id, too.
_PLAIN_HEADER = "n,,"


class _Exchange(NamedTuple):
    """What the proof is verified with."""

    credential: ScramCredential
    bindings: tuple[str, ...]
    nonce: str
    #: The first messages of client and broker.
    messages: str


class ScramConversation:
    __slots__ = ("_exchange", "_mechanism", "_nonce", "_users", "user")

    def __init__(self, mechanism: ScramMechanism, users: Users, nonce: str) -> None:
        """`nonce`: the broker's part of it, random."""
        self.user = ""
        self._mechanism = mechanism
        self._users = users
        self._nonce = nonce
        self._exchange: _Exchange | None = None

    def evaluate(self, token: bytes) -> Outcome:
        try:
            text = token.decode()
        except UnicodeDecodeError:
            return MALFORMED
        return self._first(text) if self._exchange is None else self._final(text, self._exchange)

    def _first(self, text: str) -> Outcome:
        found = _CLIENT_FIRST.fullmatch(text)
        if found is None:
            return MALFORMED
        self.user = _unescaped(found["user"])
        if found["authzid"] is not None and _unescaped(found["authzid"]) != self.user:
            return OTHER_IDENTITY
        credential = self._users.find(self.user, self._mechanism)
        nonce = found["nonce"] + self._nonce
        first = f"r={nonce},s={_base64(credential.salt)},i={credential.iterations}"
        bindings = (_base64(found["header"].encode()), _base64(_PLAIN_HEADER.encode()))
        self._exchange = _Exchange(credential, bindings, nonce, f"{found['bare']},{first}")
        return Challenge(first.encode())

    def _final(self, text: str, exchange: _Exchange) -> Outcome:
        found = _CLIENT_FINAL.fullmatch(text)
        if found is None or found["binding"] not in exchange.bindings:
            return MALFORMED
        try:
            proof = b64decode(found["proof"], validate=True)
        except ValueError:
            return MALFORMED
        message = f"{exchange.messages},{found['bare']}".encode()
        proven = exchange.credential.proves(message, proof)
        # librdkafka before 2.6 sends its own part twice; Kafka compares the end, too.
        if not proven or not found["nonce"].endswith(exchange.nonce):
            return INVALID_CREDENTIALS
        signature = _base64(exchange.credential.server_signature(message))
        return Authenticated(Principal("User", self.user), f"v={signature}".encode())


def _unescaped(name: str) -> str:
    return name.replace("=2C", ",").replace("=3D", "=")


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
