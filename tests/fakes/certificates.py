"""Certificates for tests, made by `cryptography`: authorities, brokers, clients."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

DAY = timedelta(days=1)


def name_of(common_name: str, **more: str) -> x509.Name:
    oids = {"o": NameOID.ORGANIZATION_NAME, "ou": NameOID.ORGANIZATIONAL_UNIT_NAME}
    pairs = [(oids[key], text) for key, text in more.items()]
    return x509.Name(
        [
            *(x509.NameAttribute(oid, text) for oid, text in pairs),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


@dataclass(frozen=True)
class Certified:
    """A key and its certificate."""

    key: CertificateIssuerPrivateKeyTypes
    certificate: x509.Certificate

    @cached_property
    def certificate_pem(self) -> bytes:
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def key_pem(self, password: str | None = None) -> bytes:
        hidden: serialization.KeySerializationEncryption = (
            serialization.NoEncryption()
            if password is None
            else serialization.BestAvailableEncryption(password.encode())
        )
        return self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, hidden
        )

    @property
    def pem(self) -> bytes:
        return self.key_pem() + self.certificate_pem

    def pkcs12(self, password: str, *others: x509.Certificate) -> bytes:
        assert isinstance(self.key, ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey)
        return pkcs12.serialize_key_and_certificates(
            b"broker",
            self.key,
            self.certificate,
            others,
            serialization.BestAvailableEncryption(password.encode()),
        )


def _certified(
    subject: x509.Name,
    issuer: Certified | None,
    *,
    authority: bool = False,
    hosts: tuple[str, ...] = (),
    days: float = 2,
    usage: x509.ObjectIdentifier | None = None,
    key: CertificateIssuerPrivateKeyTypes | None = None,
) -> Certified:
    key = key or ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    public = key.public_key()
    begin = min(now, now + timedelta(days=days)) - DAY
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
    )
    if issuer is not None:
        signer = issuer.certificate.public_key()
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer)  # type: ignore[arg-type]
        builder = builder.add_extension(identifier, critical=False)
    if hosts:
        names: list[x509.GeneralName] = []
        for host in hosts:
            try:
                names.append(x509.IPAddress(ipaddress.ip_address(host)))
            except ValueError:
                names.append(x509.DNSName(host))
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    if usage is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    return Certified(key, builder.sign(issuer.key if issuer else key, hashes.SHA256()))


def authority(name: str = "authority") -> Certified:
    return _certified(name_of(name), None, authority=True)


def broker(issuer: Certified, *hosts: str, days: float = 2, rsa_bits: int = 0) -> Certified:
    """For 127.0.0.1 and localhost, or these hosts."""
    key = rsa.generate_private_key(65537, rsa_bits) if rsa_bits else None
    names = hosts or ("127.0.0.1", "localhost")
    return _certified(name_of("broker"), issuer, hosts=names, days=days, key=key)


def client(issuer: Certified, name: str = "client", days: float = 2, **more: str) -> Certified:
    return _certified(
        name_of(name, **more), issuer, days=days, usage=ExtendedKeyUsageOID.CLIENT_AUTH
    )


def write(folder: Path, **files: bytes) -> dict[str, Path]:
    """`authority=...` is written to authority.pem."""
    paths = {}
    for name, data in files.items():
        paths[name] = folder / f"{name}.pem"
        paths[name].write_bytes(data)
    return paths
