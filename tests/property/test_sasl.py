"""Any bytes before and during authentication: no exception, no login, a bounded end."""

from __future__ import annotations

import struct
from base64 import b64decode, b64encode

from hypothesis import given
from hypothesis import strategies as st
from scramp import ScramClient

from domain.security.principal import ANONYMOUS
from interfaces.kafka.wire.messages.sasl_handshake import SaslHandshakeRequest
from tests.fakes.client import frame, raw_frame
from tests.fakes.sasl import MECHANISMS as SCRAM
from tests.fakes.sasl import PASSWORD, USER, SaslKafka, handshake, token

MECHANISMS = st.sampled_from(["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])
PIECES = (
    *(b"n,,", b"y,,", b"a=", b"n=ann", b"n=", b",", b"r=abc", b"c=biws", b"p=", b"\0", b"=2C"),
    *(b"\x01", b"auth=Bearer ", b"e30.e30.", b"eyJhbGciOiJub25lIn0.", b"ann", b"\xff"),
)
#: Bytes, and pieces of the messages of all mechanisms.
TOKENS = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.sampled_from(PIECES),
        max_size=12,
    ).map(b"".join),
)


def fresh() -> SaslKafka:
    enabled = "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER"
    kafka = SaslKafka(
        {
            "sasl_enabled_mechanisms": enabled,
            "sasl_oauthbearer_unsecured_tokens": "true",
            "plain__sasl_jaas_config": 'a.Plain required user_ann="PaSs";',
        }
    )
    kafka.add_user()
    return kafka


@given(MECHANISMS, st.sampled_from([0, 1]), st.lists(TOKENS, min_size=1, max_size=4))
def test_tokens_that_are_no_login_end_the_connection(
    mechanism: str, version: int, tokens: list[bytes]
) -> None:
    kafka = fresh()
    client = kafka.client()
    client.transport.send(frame(SaslHandshakeRequest(mechanism=mechanism), version))
    kafka.run()
    for one in tokens:
        raw = struct.pack(">i", len(one)) + one
        client.transport.send(raw if version == 0 else frame(token(one), 2))
        kafka.after_the_delay()
    assert client.session.principal == ANONYMOUS
    assert kafka.events.of("request_failed") == []
    kafka.after_the_delay(30_000)
    assert client.closed


@given(st.sampled_from(sorted(SCRAM)), st.integers(0, 1 << 16), st.integers(0, 255), st.booleans())
def test_a_final_message_of_scram_with_one_other_byte_is_no_login(
    mechanism: str, place: int, byte: int, in_proof: bool
) -> None:
    kafka = fresh()
    client = kafka.client()
    handshake(client, mechanism)
    scram = ScramClient([mechanism], USER, PASSWORD)
    scram.set_server_first(
        client.request(token(scram.get_client_first().encode()), 2).auth_bytes.decode()
    )
    bare, _, proof = scram.get_client_final().encode().rpartition(b",p=")
    changed = bytearray(b64decode(proof) if in_proof else bare)
    place %= len(changed)
    is_right = changed[place] == byte
    changed[place] = byte
    final = bare + b",p=" + b64encode(changed) if in_proof else bytes(changed) + b",p=" + proof
    client.send(token(final), 2)
    kafka.after_the_delay()
    assert (client.session.principal != ANONYMOUS) == is_right
    assert client.closed != is_right
    assert kafka.events.of("request_failed") == []


@given(st.binary(max_size=300), st.integers(0, 80), st.integers(-1, 12))
def test_requests_before_authentication_end_the_connection(
    body: bytes, key: int, version: int
) -> None:
    kafka = fresh()
    client = kafka.client()
    client.transport.send(raw_frame(key, version, body))
    client.transport.send(body)
    kafka.after_the_delay(30_000)
    assert client.closed
    assert client.session.principal == ANONYMOUS
    assert kafka.events.of("request_failed") == []
