"""Keystores and truststores: PEM and PKCS12, in files or as text, by Kafka's settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from domain.configs.settings.definition import Value

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
    from cryptography.x509 import Certificate

_JKS = (b"\xfe\xed\xfe\xed", b"\xce\xce\xce\xce")
_PEM = b"-----BEGIN "


class TlsUnusable(Exception):
    """Certificates or keys that cannot be used; the message is one line."""


class KeyStore(NamedTuple):
    key: PrivateKeyTypes
    #: That of the key first.
    chain: list[Certificate]


class StoreSettings(NamedTuple):
    """The settings of one listener."""

    value: Callable[[str], Value]
    #: The name under which one is set, for messages.
    key_of: Callable[[str], str]

    def text(self, name: str) -> str | None:
        found = self.value(name)
        return str(found) if found else None

    def files(self) -> list[Path]:
        names = ("ssl.keystore.location", "ssl.truststore.location")
        return [Path(text) for text in map(self.text, names) if text is not None]


def load_key_store(settings: StoreSettings) -> KeyStore:
    """Raises TlsUnusable."""
    location, key_text = settings.text("ssl.keystore.location"), settings.text("ssl.keystore.key")
    chain_text = settings.text("ssl.keystore.certificate.chain")
    if key_text is not None or chain_text is not None:
        _check_text(settings, "ssl.keystore", location)
        if key_text is None or chain_text is None:
            raise TlsUnusable("ssl.keystore.key and ssl.keystore.certificate.chain need each other")
        where = settings.key_of("ssl.keystore.key")
        key = _pem_key(key_text.encode(), settings.text("ssl.key.password"), where)
        store = KeyStore(
            key, _pem_certificates(chain_text, settings.key_of("ssl.keystore.certificate.chain"))
        )
    elif location is None:
        raise TlsUnusable("no certificate for the broker: set ssl.keystore.location and .type")
    else:
        where = f"{settings.key_of('ssl.keystore.location')} {location}"
        store = _key_store_of(_read(location, where), settings, where)
    if not store.chain:
        raise TlsUnusable(f"{where} has no certificate")
    return _in_order(store, where)


def load_trusted(settings: StoreSettings) -> list[Certificate] | None:
    """None: the authorities of the operating system. Raises TlsUnusable."""
    location = settings.text("ssl.truststore.location")
    text = settings.text("ssl.truststore.certificates")
    if text is not None:
        _check_text(settings, "ssl.truststore", location)
        where = settings.key_of("ssl.truststore.certificates")
        found = _pem_certificates(text, where)
    elif location is None:
        return None
    else:
        where = f"{settings.key_of('ssl.truststore.location')} {location}"
        data = _read(location, where)
        password = settings.text("ssl.truststore.password")
        if _is_pem(settings, "ssl.truststore", data, where):
            found = _pem_certificates(data.decode("latin-1"), where)
        else:
            found = _pkcs12(data, password, where)[1]
    if not found:
        raise TlsUnusable(f"{where} has no certificate")
    return found


def _check_text(settings: StoreSettings, store: str, location: str | None) -> None:
    if settings.value(kind := f"{store}.type") != "PEM":
        raise TlsUnusable(f"{settings.key_of(kind)} must be PEM for certificates as text")
    if location is not None:
        raise TlsUnusable(f"{store}.location is set, and certificates as text: one of them only")


def _read(location: str, where: str) -> bytes:
    try:
        return Path(location).read_bytes()
    except OSError as failure:
        raise TlsUnusable(f"{where}: {failure.strerror}") from failure


def _is_pem(settings: StoreSettings, store: str, data: bytes, where: str) -> bool:
    """JKS is Java's default, and Java reads PKCS12 under this name too."""
    name, kind = settings.key_of(f"{store}.type"), settings.value(f"{store}.type")
    if data.startswith(_JKS):
        path = where.rpartition(" ")[2]
        raise TlsUnusable(
            f"{where} is a JKS file; convert it: keytool -importkeystore -srckeystore {path} "
            f"-destkeystore {path}.p12 -deststoretype PKCS12"
        )
    looks_pem = _PEM in data
    if kind == "PEM" and not looks_pem:
        raise TlsUnusable(f"{where} is not PEM ({name} = PEM)")
    if kind != "PEM" and looks_pem:
        raise TlsUnusable(f"{where} is PEM: set {name} = PEM")
    return looks_pem


def _key_store_of(data: bytes, settings: StoreSettings, where: str) -> KeyStore:
    key_password = settings.text("ssl.key.password")
    if _is_pem(settings, "ssl.keystore", data, where):
        if settings.text("ssl.keystore.password") is not None:
            name = settings.key_of("ssl.keystore.password")
            raise TlsUnusable(f"{name} is not for PEM: the password of the key is ssl.key.password")
        key = _pem_key(data, key_password, where)
        return KeyStore(key, _pem_certificates(data.decode("latin-1"), where))
    password = settings.text("ssl.keystore.password") or key_password
    pkcs12_key, chain = _pkcs12(data, password, where)
    if pkcs12_key is None:
        raise TlsUnusable(f"{where} has no private key")
    return KeyStore(pkcs12_key, chain)


def _pkcs12(
    data: bytes, password: str | None, where: str
) -> tuple[PrivateKeyTypes | None, list[Certificate]]:
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

    try:
        found = load_pkcs12(data, None if password is None else password.encode())
    except (ValueError, TypeError) as failure:
        raise TlsUnusable(f"{where}: wrong password, or not a PKCS12 file") from failure
    first = [] if found.cert is None else [found.cert.certificate]
    return found.key, first + [each.certificate for each in found.additional_certs]


def _pem_key(data: bytes, password: str | None, where: str) -> PrivateKeyTypes:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    block = _key_block(data.decode("latin-1"))
    if block is None:
        raise TlsUnusable(f"{where} has no private key")
    encrypted = "ENCRYPTED" in block
    if encrypted and password is None:
        raise TlsUnusable(f"{where}: the private key is encrypted; set ssl.key.password")
    secret = password.encode() if encrypted and password is not None else None
    try:
        return load_pem_private_key(block.encode(), secret)
    except (ValueError, TypeError, UnsupportedAlgorithm) as failure:
        why = "wrong ssl.key.password, or a broken key" if encrypted else "a broken private key"
        raise TlsUnusable(f"{where}: {why}") from failure


def _key_block(text: str) -> str | None:
    """cryptography wants the key first."""
    for block in text.split("-----BEGIN ")[1:]:
        label = block.partition("-----")[0]
        if label.endswith("PRIVATE KEY"):
            body, end, _ = block.partition(f"-----END {label}-----")
            return f"-----BEGIN {body}{end}\n" if end else None
    return None


def _pem_certificates(text: str, where: str) -> list[Certificate]:
    from cryptography import x509

    if "-----BEGIN CERTIFICATE-----" not in text:
        return []
    try:
        return x509.load_pem_x509_certificates(text.encode("latin-1", "replace"))
    except ValueError as failure:
        raise TlsUnusable(f"{where}: a broken certificate") from failure


def _in_order(store: KeyStore, where: str) -> KeyStore:
    """The certificate of the key first: in a PKCS12 file it may be anywhere."""
    own = store.key.public_key()
    for number, each in enumerate(store.chain):
        if each.public_key() == own:
            return KeyStore(store.key, [each, *store.chain[:number], *store.chain[number + 1 :]])
    raise TlsUnusable(f"{where}: the private key does not fit the certificate")
