"""Authority: a certificate authority for one broker, and the broker's certificate.

A folder has its files, readable by the owner only, except for `ca.pem`, which clients need:

ca.pem       the certificate of the authority: the truststore of clients
ca.key       its key, which signs new certificates of the broker
broker.pem   key and certificate of the broker: ssl.keystore.location, ssl.keystore.type=PEM
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from socket import getfqdn, gethostname
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

#: In the data folder.
FOLDER = "tls"
AUTHORITY, AUTHORITY_KEY, BROKER = "ca.pem", "ca.key", "broker.pem"
#: Of the user that `ottla serve --secure` adds.
CLIENT = "client.properties"

AUTHORITY_DAYS = 10 * 365
#: Browsers refuse longer ones.
BROKER_DAYS = 397
#: Clients with clocks that are behind accept a new certificate.
_BACKDATED = timedelta(hours=1)
_PRIVATE, _PUBLIC = 0o600, 0o644
#: The limit of X.509 for a common name.
_NAME_LENGTH = 64


class Certificate(NamedTuple):
    """What people look for in a certificate."""

    subject: str
    issuer: str
    names: list[str]
    not_before: datetime
    not_after: datetime
    #: SHA-256, as openssl prints it.
    fingerprint: str


def make_authority(folder: Path, now: datetime) -> None:
    """Raises FileExistsError if the folder has an authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _common_name(f"Ottla CA {now:%Y-%m-%d}")
    certificate = (
        _builder(name, name, key.public_key(), now, AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs_certificates=True), critical=True)
        .sign(key, SHA256())
    )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _write_new(folder / AUTHORITY_KEY, _key_pem(key), _PRIVATE)
    _write_new(folder / AUTHORITY, certificate.public_bytes(Encoding.PEM), _PUBLIC)


def issue(folder: Path, names: Sequence[str], now: datetime) -> None:
    """Replaces the certificate of the broker by one for these host names and addresses.

    Raises OSError, or ValueError if the files of the authority are damaged.
    """
    authority_key = load_pem_private_key((folder / AUTHORITY_KEY).read_bytes(), None)
    authority = x509.load_pem_x509_certificate((folder / AUTHORITY).read_bytes())
    if not isinstance(authority_key, ec.EllipticCurvePrivateKey):
        raise ValueError(f"{folder / AUTHORITY_KEY} has no key of an elliptic curve")
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        _builder(_common_name(names[0]), authority.subject, key.public_key(), now, BROKER_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName([_name(one) for one in names]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()),
            critical=False,
        )
        .sign(authority_key, SHA256())
    )
    replace_private(folder / BROKER, _key_pem(key) + certificate.public_bytes(Encoding.PEM))


def replace_private(path: Path, content: bytes) -> None:
    """A file that only its owner can read, whole or not at all."""
    fresh = path.with_name(f"{path.name}.new")
    fresh.unlink(missing_ok=True)
    _write_new(fresh, content, _PRIVATE)
    fresh.replace(path)


def names_of_this_host() -> list[str]:
    return list(dict.fromkeys(("localhost", "127.0.0.1", "::1", gethostname(), getfqdn())))


def certificates_of(path: Path) -> list[Certificate]:
    """Of a PEM file. Raises OSError or ValueError."""
    return [_described(one) for one in x509.load_pem_x509_certificates(path.read_bytes())]


def _described(certificate: x509.Certificate) -> Certificate:
    return Certificate(
        certificate.subject.rfc4514_string(),
        certificate.issuer.rfc4514_string(),
        _names_of(certificate),
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
        certificate.fingerprint(SHA256()).hex(":").upper(),
    )


def _names_of(certificate: x509.Certificate) -> list[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(one.value) for one in names]


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    public_key: ec.EllipticCurvePublicKey,
    now: datetime,
    days: int,
) -> x509.CertificateBuilder:
    identifier = x509.SubjectKeyIdentifier.from_public_key(public_key)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public_key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(identifier, critical=False)
    )


def _usage(signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _common_name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:_NAME_LENGTH])])


def _name(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text.encode("idna").decode())


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """The content is on disk before a start relies on it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
