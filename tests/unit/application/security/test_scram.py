"""The broker's side of SCRAM, beside the example of RFC 7677 and scramp's client."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from unittest.mock import patch

import pytest
from scramp import ScramClient

from application.security.conversation import (
    INVALID_CREDENTIALS,
    MALFORMED,
    OTHER_IDENTITY,
    Authenticated,
    Challenge,
)
from application.security.scram import ScramConversation
from application.security.users import Upsertion, Users
from domain.security.principal import Principal
from domain.security.scram import ScramMechanism
from tests.fakes.broker import FakeBroker
from tests.fakes.sasl import PASSWORD, USER, SaslKafka, salted

SHA_256, SHA_512 = ScramMechanism
# RFC 7677, section 3
RFC_SALT = b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
RFC_FIRST = b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO"
RFC_NONCE = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
RFC_FINAL = (
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
)


@pytest.fixture
def users() -> Users:
    kafka = SaslKafka()
    kafka.add_user()
    kafka.add_user("a=b,c")
    return kafka.broker.security.users


def test_the_example_of_rfc_7677() -> None:
    kafka = FakeBroker()
    users = kafka.broker.security.users
    salted = hashlib.pbkdf2_hmac("sha256", b"pencil", RFC_SALT, 4096)
    users.alter([], [Upsertion("user", SHA_256, 4096, RFC_SALT, salted)])
    kafka.run()
    conversation = ScramConversation(SHA_256, users, RFC_NONCE)
    assert conversation.evaluate(RFC_FIRST) == Challenge(
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    )
    assert conversation.evaluate(RFC_FINAL) == Authenticated(
        Principal("User", "user"), b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
    )


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"\xff",
        b"n,,",
        b"n,,n=ann",
        b"n,,n=,r=abc",
        b"n,,n=ann,r=",
        b"p=tls-unique,,n=ann,r=abc",
        b"n,,m=ext,n=ann,r=abc",
        b"n,,n=an=n,r=abc",
        b"n,,n=ann,r=a b",
        b"n,,n=an\0n,r=abc",
        b"n,b=ann,n=ann,r=abc",
        b"n,,n=ann,r=abc,",
    ],
)
def test_a_malformed_first_message_is_refused(users: Users, first: bytes) -> None:
    assert ScramConversation(SHA_256, users, "nonce").evaluate(first) == MALFORMED


def begun(users: Users, first: bytes = b"n,,n=ann,r=abc") -> ScramConversation:
    conversation = ScramConversation(SHA_256, users, "nonce")
    assert isinstance(conversation.evaluate(first), Challenge)
    return conversation


PROOF = b64encode(b"p" * 32)


@pytest.mark.parametrize(
    "final",
    [
        b"",
        b"\xff",
        b"c=biws,r=abcnonce",
        b"c=eSws,r=abcnonce,p=" + PROOF,
        b"c=biws,r=abcnonce,p=AAAAA",
        b"c=biws,p=" + PROOF,
    ],
)
def test_a_malformed_final_message_is_refused(users: Users, final: bytes) -> None:
    assert begun(users).evaluate(final) == MALFORMED


@pytest.mark.parametrize(
    "final",
    [
        b"c=biws,r=abcnonce,p=" + PROOF,
        b"c=biws,r=abcother,p=" + PROOF,
        b"c=biws,r=abcnonce,p=" + b64encode(b"p" * 31),
        b"c=biws,r=abcnonce,p=" + b64encode(b"p" * 64),
    ],
)
def test_a_wrong_proof_or_nonce_is_a_wrong_password(users: Users, final: bytes) -> None:
    assert begun(users).evaluate(final) == INVALID_CREDENTIALS


def run(users: Users, user: str, header: str = "n,,", extension: str = "") -> object:
    """With scramp's client; its proof covers the first message without the header."""
    client = ScramClient(["SCRAM-SHA-256"], user, PASSWORD)
    first = client.get_client_first().replace("n,,", header, 1) + extension
    conversation = ScramConversation(SHA_256, users, "nonce")
    outcome = conversation.evaluate(first.encode())
    if not isinstance(outcome, Challenge):
        return outcome
    client.set_server_first(outcome.token.decode())
    return conversation.evaluate(client.get_client_final().encode())


def test_a_client_may_send_its_part_of_the_nonce_twice(users: Users) -> None:
    """As librdkafka before 2.6 does, and Kafka accepts it."""
    conversation = begun(users)
    known = users.find(USER, SHA_256)
    first = f"n=ann,r=abc,r=abcnonce,s={b64encode(known.salt).decode()},i=4096"
    bare = "c=biws,r=abcabcnonce"
    salted = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), known.salt, 4096)
    client_key = SHA_256.hmac(salted, b"Client Key")
    signature = SHA_256.hmac(known.stored_key, f"{first},{bare}".encode())
    proof = b64encode(bytes(a ^ b for a, b in zip(client_key, signature, strict=True))).decode()
    assert isinstance(conversation.evaluate(f"{bare},p={proof}".encode()), Authenticated)


def test_a_name_may_have_commas_and_equals_signs(users: Users) -> None:
    outcome = run(users, "a=b,c")
    assert isinstance(outcome, Authenticated)
    assert outcome.principal == Principal("User", "a=b,c")


def test_the_authorization_id_may_be_the_user_only(users: Users) -> None:
    """Java's client sends the binding of an empty header with it."""
    assert isinstance(run(users, USER, "n,a=ann,"), Authenticated)
    assert run(users, USER, "n,a=root,") == OTHER_IDENTITY


def test_unknown_extensions_are_ignored(users: Users) -> None:
    assert isinstance(begun(users, b"n,,n=ann,r=abc,tokenauth=true"), ScramConversation)


def test_an_unknown_user_costs_the_work_of_a_known_one(users: Users) -> None:
    def work_of(user: str) -> list[int]:
        with patch("domain.security.scram.digest", wraps=__import__("hmac").digest) as counted:
            conversation = begun(users, f"n,,n={user},r=abc".encode())
            first = counted.call_count
            conversation.evaluate(b"c=biws,r=abcnonce,p=" + PROOF)
            return [first, counted.call_count]

    assert work_of(USER) == work_of("unknown")


def test_a_proof_for_another_nonce_is_refused(users: Users) -> None:
    conversation = ScramConversation(SHA_256, users, "broker")
    bare = f"n={USER},r=client"
    challenge = conversation.evaluate(f"n,,{bare}".encode())
    assert isinstance(challenge, Challenge)
    final = "c=biws,r=another"
    message = f"{bare},{challenge.token.decode()},{final}".encode()
    client_key = hmac.digest(salted(PASSWORD, SHA_256), b"Client Key", "sha256")
    signature = hmac.digest(hashlib.sha256(client_key).digest(), message, "sha256")
    proof = bytes(a ^ b for a, b in zip(client_key, signature, strict=True))
    sent = f"{final},p={b64encode(proof).decode()}".encode()
    assert conversation.evaluate(sent) == INVALID_CREDENTIALS
