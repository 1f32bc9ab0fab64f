"""A Kafka client over TLS to a real TlsConnection, without sockets."""

from __future__ import annotations

import ssl
from functools import cache, cached_property
from typing import Any

from domain.security.principal import Principal
from infrastructure.security.distinguished_name import subject_of
from interfaces.connections.tls import ListenerTls, TlsConnection
from interfaces.kafka.connections.session import Session
from tests.fakes import certificates
from tests.fakes.client import LISTENER, FakeClient, FakeKafka
from tests.fakes.transport import FakeTransport


@cache
def authority() -> certificates.Certified:
    return certificates.authority()


class Identity:
    """Of a broker with a certificate of the authority; it may require one of clients."""

    def __init__(self, tmp_path: Any, client_auth: ssl.VerifyMode = ssl.CERT_NONE) -> None:
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        files = certificates.write(tmp_path, broker=certificates.broker(authority()).pem)
        self.context.load_cert_chain(files["broker"])
        self.context.load_verify_locations(cadata=authority().certificate_pem.decode())
        self.context.verify_mode = client_auth

    def principal_of(self, certificate: bytes) -> Principal:
        return Principal("User", subject_of(certificate))


def client_context() -> ssl.SSLContext:
    return ssl.create_default_context(cadata=authority().certificate_pem.decode())


class EncryptedTransport:
    """What FakeClient has as its transport: plain bytes on the side of the client."""

    def __init__(self, transport: FakeTransport, context: ssl.SSLContext) -> None:
        self.below = transport
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="localhost")
        self._plain: list[bytes] = []
        self.ended = False

    @property
    def closing(self) -> bool:
        return self.below.closing

    def shake_hands(self) -> None:
        """One flight; raises what the client raises."""
        self._receive()
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        finally:
            self._flush()

    def send(self, data: bytes) -> None:
        self.below.send(self.encrypted(data))

    def encrypted(self, data: bytes) -> bytes:
        self._tls.write(data)
        return self._outgoing.read()

    def end(self) -> None:
        """Closes TLS, not the socket."""
        self._receive()
        try:
            self._tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self._flush()

    @property
    def taken(self) -> list[bytes]:
        self._receive()
        while not self.ended:
            try:
                data = self._tls.read(1 << 20)
            except ssl.SSLWantReadError:
                break
            self.ended = not data
            self._plain.append(data)
        return self._plain

    def _receive(self) -> None:
        self._incoming.write(b"".join(self.below.taken))
        self.below.taken.clear()

    def _flush(self) -> None:
        if data := self._outgoing.read():
            self.below.send(data)


class TlsClient(FakeClient):
    transport: Any

    @cached_property
    def below(self) -> FakeTransport:
        found: FakeTransport = self.transport.below
        return found


class TlsKafka(FakeKafka):
    """The fake broker with one TLS listener."""

    def __init__(self, identity: Identity, **settings: str) -> None:
        super().__init__(**settings)
        self.tls = ListenerTls(identity)

    def connect(
        self, context: ssl.SSLContext | None = None, address: str = "192.0.2.7"
    ) -> TlsClient:
        """A connection without a byte."""
        transport = FakeTransport(self.scheduler, peername=(address, 40001))
        session = Session(self.shared, next(self.shared.connection_ids), LISTENER)
        encrypted = EncryptedTransport(transport, context or client_context())
        transport.connect(TlsConnection(session, self.shared.handshakes, self.tls))
        return TlsClient(self, encrypted, session)  # type: ignore[arg-type]

    def tls_client(self, context: ssl.SSLContext | None = None) -> TlsClient:
        """After the handshake."""
        client = self.connect(context)
        for _ in range(2):
            client.transport.shake_hands()
            self.run()
        return client
