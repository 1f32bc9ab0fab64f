"""The conversations, good and bad, of each mechanism; and requests at a wrong time."""

from __future__ import annotations

import hashlib
import json
import struct
import time
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable

from scramp import ScramClient

from interfaces.kafka.wire.messages.api_versions import ApiVersionsRequest
from interfaces.kafka.wire.messages.metadata import MetadataRequest
from interfaces.kafka.wire.messages.sasl_handshake import SaslHandshakeRequest
from interfaces.kafka.wire.schema import Request
from tests.fakes.sasl import MECHANISMS, PASSWORD, USER, plain
from tests.oracle.conversation import CLIENT_NONCE, Conversation

Script = Callable[[Conversation], None]
#: The mechanism whose sessions do not expire.
WITHOUT_LIFETIME = "SCRAM-SHA-512"

# ---- tokens

_FIRST = f"n,,n={USER},r={CLIENT_NONCE}"


def bearer(token: str, header: str = "n,,") -> bytes:
    return f"{header}\x01auth=Bearer {token}\x01\x01".encode()


def unsecured(subject: str | None = USER, expires_in_s: int = 3600) -> str:
    now_s = int(time.time())
    claims = {"sub": subject, "iat": now_s - 7200, "exp": now_s + expires_in_s}
    given = {name: value for name, value in claims.items() if value is not None}
    parts = (urlsafe_b64encode(json.dumps(one).encode()) for one in ({"alg": "none"}, given))
    return ".".join(part.decode().rstrip("=") for part in parts) + "."


Send = Callable[[str, bytes], bytes]


def scram(send: Send, mechanism: str, user: str = USER, password: str = PASSWORD) -> None:
    client = ScramClient([mechanism], user, password, c_nonce=CLIENT_NONCE)
    first = send("client first", client.get_client_first().encode())
    if first:
        client.set_server_first(first.decode())
        send("client final", client.get_client_final().encode())


# ---- the conversations

CONVERSATIONS: dict[str, Script] = {}


def _add(name: str, script: Script) -> None:
    assert name not in CONVERSATIONS
    CONVERSATIONS[name] = script


def _of_tokens(name: str, mechanism: str, *tokens: bytes | Callable[[], bytes]) -> None:
    def script(talk: Conversation) -> None:
        talk.handshake(mechanism)
        for place, each in enumerate(tokens):
            talk.token(f"token {place}", each if isinstance(each, bytes) else each())

    _add(f"{mechanism}: {name}", script)


def _of_scram(name: str, mechanism: str, version: int = 2, **login: str) -> None:
    def script(talk: Conversation) -> None:
        talk.handshake(mechanism)
        scram(lambda what, data: talk.token(what, data, version), mechanism, **login)

    _add(f"{mechanism}: {name}", script)


def _of_final(name: str, mechanism: str, final: str) -> None:
    """NONCE in `final` stands for that of client and broker."""

    def script(talk: Conversation) -> None:
        talk.handshake(mechanism)
        first = talk.token("client first", _FIRST.encode()).decode()
        nonce = first.partition(",")[0].removeprefix("r=")
        talk.token("client final", final.replace("NONCE", nonce).encode())

    _add(f"{mechanism}: {name}", script)


def _add_all() -> None:
    for version in (0, 1, 2):

        def right(talk: Conversation, version: int = version) -> None:
            talk.handshake("PLAIN")
            talk.token("token", plain(USER, PASSWORD), version)
            talk.request("Metadata", MetadataRequest(topics=[]), 12, whole=False)

        def wrong(talk: Conversation, version: int = version) -> None:
            talk.handshake("PLAIN")
            talk.token("token", plain(USER, "wrong"), version)
            talk.request("Metadata", MetadataRequest(topics=[]), 12, whole=False)

        _add(f"PLAIN: right, version {version}", right)
        _add(f"PLAIN: wrong password, version {version}", wrong)
    for name, token in {
        "unknown user": plain("nobody", PASSWORD),
        "the user as authorization id": plain(USER, PASSWORD, USER),
        "another authorization id": plain(USER, PASSWORD, "bob"),
        "another authorization id, wrong password": plain(USER, "wrong", "bob"),
        "no user": plain("", PASSWORD),
        "no password": plain(USER, ""),
        "two parts": f"{USER}\0{PASSWORD}".encode(),
        "four parts": plain(USER, PASSWORD) + b"\0more",
        "no NUL": b"ann",
        "empty": b"",
        "not UTF-8": b"\0\xff\xfe\0x",
    }.items():
        _of_tokens(name, "PLAIN", token)
    _of_tokens("a token after the login", "PLAIN", *[plain(USER, PASSWORD)] * 2)

    for mechanism in MECHANISMS:
        for version in (0, 1, 2):
            _of_scram(f"right, version {version}", mechanism, version)
        _of_scram("wrong password", mechanism, password="wrong")
        _of_scram("unknown user", mechanism, user="nobody")
        for name, first in {
            "empty": "",
            "no SCRAM": "hello",
            "no nonce": f"n,,n={USER}",
            "an empty nonce": f"n,,n={USER},r=",
            "no user": f"n,,n=,r={CLIENT_NONCE}",
            "channel binding is possible": f"y,,n={USER},r={CLIENT_NONCE}",
            "channel binding is wanted": f"p=tls-unique,,n={USER},r={CLIENT_NONCE}",
            "the user as authorization id": f"n,a={USER},n={USER},r={CLIENT_NONCE}",
            "another authorization id": f"n,a=bob,n={USER},r={CLIENT_NONCE}",
            "an extension": f"{_FIRST},x=1",
            "tokenauth": f"{_FIRST},tokenauth=true",
            "a reserved extension": f"n,,m=1,n={USER},r={CLIENT_NONCE}",
            "a wrong escape in the user": f"n,,n=a=b,r={CLIENT_NONCE}",
            "an escape in the user": f"n,,n=a=2Cb,r={CLIENT_NONCE}",
        }.items():
            _of_tokens(f"first: {name}", mechanism, first.encode())
        _of_tokens("first: not UTF-8", mechanism, b"n,,n=\xff,r=abc")
        proof = b64encode(bytes(hashlib.new(MECHANISMS[mechanism].hash_name).digest_size)).decode()
        for name, final in {
            "wrong proof": f"c=biws,r=NONCE,p={proof}",
            "other nonce": f"c=biws,r=other,p={proof}",
            "no base64": "c=biws,r=NONCE,p=!",
            "no proof": "c=biws,r=NONCE",
            "binding": f"c=eSws,r=NONCE,p={proof}",
            "empty": "",
        }.items():
            _of_final(f"final: {name}", mechanism, final)

    tokens: dict[str, Callable[[], bytes]] = {
        "right": lambda: bearer(unsecured()),
        "with an authorization id": lambda: bearer(unsecured(), f"n,a={USER},"),
        "another authorization id": lambda: bearer(unsecured(), "n,a=bob,"),
        "no token": lambda: b"n,,\x01auth=Bearer \x01\x01",
        "no auth": lambda: b"n,,\x01\x01",
        "another scheme": lambda: f"n,,\x01auth=Basic {unsecured()}\x01\x01".encode(),
        "no end": lambda: f"n,,\x01auth=Bearer {unsecured()}".encode(),
        "empty": lambda: b"",
    }
    for name, make in tokens.items():
        _of_tokens(name, "OAUTHBEARER", make)
    refused = {
        "expired": lambda: bearer(unsecured(expires_in_s=-3600)),
        "no subject": lambda: bearer(unsecured(None)),
        "no JWT": lambda: bearer("abc"),
    }
    for name, make in refused.items():
        _of_tokens(name, "OAUTHBEARER", make, b"\x01")
    _of_tokens("expired, and more tokens", "OAUTHBEARER", refused["expired"], b"more")

    _add_states()


def _add_states() -> None:
    """Requests at a wrong time, and frames that are none."""
    metadata = MetadataRequest(topics=[])
    for name, begin in {
        "at first": lambda talk: None,
        "after the handshake": lambda talk: talk.handshake("PLAIN"),
    }.items():

        def asks_metadata(talk: Conversation, begin: Script = begin) -> None:
            begin(talk)
            talk.request("Metadata", metadata, 12, whole=False)

        def asks_versions(talk: Conversation, begin: Script = begin) -> None:
            begin(talk)
            talk.request("ApiVersions", ApiVersionsRequest(), 3, whole=False)
            talk.handshake("PLAIN")

        def again(talk: Conversation, begin: Script = begin) -> None:
            begin(talk)
            talk.handshake("PLAIN")
            talk.token("token", plain(USER, PASSWORD))

        _add(f"{name}: Metadata", asks_metadata)
        _add(f"{name}: ApiVersions", asks_versions)
        _add(f"{name}: handshake", again)
        for what, data in {
            "an empty frame": struct.pack(">i", 0),
            "a negative length": struct.pack(">i", -1),
            "a frame that is too large": struct.pack(">i", 524_289),
            "an unknown API": struct.pack(">ihhih", 10, 999, 0, 1, -1),
            "an unknown version": struct.pack(">ihhih", 10, 17, 9, 1, -1),
        }.items():

            def bytes_of_nothing(
                talk: Conversation, begin: Script = begin, what: str = what, data: bytes = data
            ) -> None:
                begin(talk)
                talk.raw(what, data)

            _add(f"{name}: {what}", bytes_of_nothing)
    _add("at first: token", lambda talk: _discard(talk.token("token", plain(USER, PASSWORD))))
    for mechanism in ("GSSAPI", "", "plain", "SCRAM-SHA-1"):

        def offers(talk: Conversation, mechanism: str = mechanism) -> None:
            talk.handshake(mechanism)
            talk.handshake("PLAIN")

        _add(f"mechanism {mechanism!r}", offers)

    for password in (PASSWORD, "wrong"):

        def raw_plain(talk: Conversation, password: str = password) -> None:
            talk.handshake("PLAIN", 0)
            talk.raw_token("token", plain(USER, password))
            if password == PASSWORD:
                talk.request("Metadata", metadata, 12, whole=False)

        def raw_scram(talk: Conversation, password: str = password) -> None:
            talk.handshake("SCRAM-SHA-256", 0)
            scram(talk.raw_token, "SCRAM-SHA-256", password=password)

        what = "right" if password == PASSWORD else "wrong password"
        _add(f"handshake 0, PLAIN: {what}", raw_plain)
        _add(f"handshake 0, SCRAM: {what}", raw_scram)
    _add("handshake 0, unknown mechanism", lambda talk: talk.handshake("GSSAPI", 0))

    for name, mechanism, token in (
        ("the same user", "PLAIN", lambda: plain(USER, PASSWORD)),
        ("another user", "PLAIN", lambda: plain("bob", PASSWORD)),
        ("a wrong password", "PLAIN", lambda: plain(USER, "wrong")),
        ("another mechanism, the same user", "OAUTHBEARER", lambda: bearer(unsecured())),
        ("another mechanism, another user", "OAUTHBEARER", lambda: bearer(unsecured("bob"))),
    ):

        def authenticates_again(
            talk: Conversation, mechanism: str = mechanism, token: Callable[[], bytes] = token
        ) -> None:
            talk.handshake("PLAIN")
            talk.token("token", plain(USER, PASSWORD))
            talk.handshake(mechanism)
            talk.token("token again", token())
            talk.request("Metadata", metadata, 12, whole=False)

        _add(f"again: {name}", authenticates_again)

    for name, request, version in (
        ("Metadata", metadata, 12),
        ("ApiVersions", ApiVersionsRequest(), 3),
        ("handshake", SaslHandshakeRequest(mechanism="PLAIN"), 1),
    ):

        def sends_no_token(
            talk: Conversation, name: str = name, request: Request = request, version: int = version
        ) -> None:
            talk.handshake("PLAIN")
            talk.token("token", plain(USER, PASSWORD))
            talk.handshake("PLAIN")
            talk.request(name, request, version)
            talk.request("Metadata", metadata, 12, whole=False)

        _add(f"again, after the handshake: {name}", sends_no_token)

    def has_no_lifetime(talk: Conversation) -> None:
        talk.handshake(WITHOUT_LIFETIME)
        scram(talk.token, WITHOUT_LIFETIME)
        talk.handshake(WITHOUT_LIFETIME)
        talk.request("Metadata", metadata, 12, whole=False)

    _add("again: a session without a lifetime", has_no_lifetime)


def _discard(_: bytes) -> None:
    pass


_add_all()
