"""The authority of a broker, checked by OpenSSL: a handshake in memory."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from infrastructure.security.authority import (
    AUTHORITY,
    AUTHORITY_KEY,
    BROKER,
    certificates_of,
    issue,
    make_authority,
)

NAMES = ["broker.example", "localhost", "127.0.0.1", "::1"]


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tls"
    make_authority(made, now())
    issue(made, NAMES, now())
    return made


def handshake(folder: Path, authority: Path, host: str) -> str | None:
    """The TLS version. Raises ssl.SSLError."""
    server_context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server_context.load_cert_chain(folder / BROKER)
    client_context = ssl.create_default_context(cafile=authority)
    client_context.verify_flags |= ssl.VERIFY_X509_STRICT
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = client_context.wrap_bio(to_client, to_server, server_hostname=host)
    server = server_context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for end in (client, server):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                pass
    return client.version()


@pytest.mark.parametrize("host", NAMES)
def test_clients_that_trust_the_authority_accept_each_name(folder: Path, host: str) -> None:
    assert handshake(folder, folder / AUTHORITY, host) == "TLSv1.3"


def test_another_name_is_refused(folder: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="ostname mismatch"):
        handshake(folder, folder / AUTHORITY, "other.example")


def test_another_authority_is_refused(folder: Path, tmp_path: Path) -> None:
    make_authority(tmp_path / "other", now())

    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(folder, tmp_path / "other" / AUTHORITY, "localhost")


def test_an_expired_certificate_is_refused_until_it_is_renewed(folder: Path) -> None:
    issue(folder, NAMES, now() - timedelta(days=500))
    with pytest.raises(ssl.SSLCertVerificationError, match="expired"):
        handshake(folder, folder / AUTHORITY, "localhost")

    issue(folder, NAMES, now())

    assert handshake(folder, folder / AUTHORITY, "localhost") == "TLSv1.3"


def test_only_the_owner_reads_keys(folder: Path) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}

    assert modes == {AUTHORITY: 0o644, AUTHORITY_KEY: 0o600, BROKER: 0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_an_authority_is_not_replaced(folder: Path) -> None:
    before = (folder / AUTHORITY_KEY).read_bytes()

    with pytest.raises(FileExistsError):
        make_authority(folder, now())

    assert (folder / AUTHORITY_KEY).read_bytes() == before


def test_damaged_keys_are_refused(folder: Path) -> None:
    (folder / AUTHORITY_KEY).write_text("no key")

    with pytest.raises(ValueError, match="PEM"):
        issue(folder, NAMES, now())

    assert certificates_of(folder / BROKER)[0].names == NAMES


def test_a_certificate_is_described(folder: Path) -> None:
    [found] = certificates_of(folder / BROKER)

    assert found.subject == "CN=broker.example"
    assert found.issuer == certificates_of(folder / AUTHORITY)[0].subject
    assert found.names == NAMES
    assert timedelta(days=396) < found.not_after - now() < timedelta(days=397)
    assert len(found.fingerprint.split(":")) == 32


def test_a_long_host_name_is_a_name_of_the_certificate(tmp_path: Path) -> None:
    name = ".".join(["long" * 10] * 3)
    make_authority(tmp_path / "tls", now())
    issue(tmp_path / "tls", [name], now())

    assert handshake(tmp_path / "tls", tmp_path / "tls" / AUTHORITY, name) == "TLSv1.3"
