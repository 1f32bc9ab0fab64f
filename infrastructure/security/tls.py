"""TlsCertificates: the TLS context of one listener, from its settings; files may be renewed."""

from __future__ import annotations

import os
import secrets
import ssl
import tempfile
from pathlib import Path

from domain.security.principal import Principal
from domain.security.principal_mapping import PrincipalMapper
from infrastructure.security.cipher_suites import limit_to
from infrastructure.security.distinguished_name import subject_of
from infrastructure.security.stores import (
    KeyStore,
    StoreSettings,
    TlsUnusable,
    load_key_store,
    load_trusted,
)

_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}
_VERSIONS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}


class TlsCertificates:
    """Raises TlsUnusable if the broker cannot use them."""

    def __init__(self, settings: StoreSettings) -> None:
        self._settings = settings
        rules = "ssl.principal.mapping.rules"
        try:
            self._mapper = PrincipalMapper(str(settings.value(rules)))
        except ValueError as failure:
            expected = f"expected {failure}"
            raise TlsUnusable(f"{settings.key_of(rules)} is not allowed: {expected}") from failure
        self._seen = self._marks()
        self.context, self.not_after = self._made()

    def _made(self) -> tuple[ssl.SSLContext, str]:
        store = load_key_store(self._settings)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.options |= ssl.OP_NO_RENEGOTIATION
        _set_versions(context, self._settings)
        _set_trust(context, self._settings)
        _set_key(context, store)
        return context, store.chain[0].not_valid_after_utc.isoformat()

    def principal_of(self, certificate: bytes) -> Principal:
        """Raises NoMatchingRule."""
        return Principal("User", self._mapper.name_of(subject_of(certificate)))

    # ---- renewal

    def _marks(self) -> list[tuple[int, int, int] | None]:
        return [_mark(file) for file in self._settings.files()]

    def changed(self) -> bool:
        """Returns True once for each change of the files."""
        marks = self._marks()
        changed, self._seen = marks != self._seen, marks
        return changed

    def renew(self) -> None:
        """Reads the files again, for new connections; after TlsUnusable all is as before."""
        self.context, self.not_after = self._made()


def _mark(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _set_versions(context: ssl.SSLContext, settings: StoreSettings) -> None:
    enabled = settings.value("ssl.enabled.protocols")
    assert isinstance(enabled, tuple)
    versions = [_VERSIONS[name] for name in enabled]
    context.minimum_version, context.maximum_version = min(versions), max(versions)
    suites = settings.value("ssl.cipher.suites")
    assert isinstance(suites, tuple)
    if suites:
        try:
            limit_to(context, suites)
        except ValueError as failure:
            name = settings.key_of("ssl.cipher.suites")
            raise TlsUnusable(f"{name} is not allowed: expected {failure}") from failure


def _set_trust(context: ssl.SSLContext, settings: StoreSettings) -> None:
    context.verify_mode = _CLIENT_AUTH[str(settings.value("ssl.client.auth"))]
    if context.verify_mode == ssl.CERT_NONE:
        return
    trusted = load_trusted(settings)
    if trusted is None:
        context.load_default_certs(ssl.Purpose.CLIENT_AUTH)
        return
    from cryptography.hazmat.primitives.serialization import Encoding

    # As in Java, each certificate of the store is trusted, not authorities at the top only.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    authorities = b"".join(one.public_bytes(Encoding.DER) for one in trusted)
    context.load_verify_locations(cadata=authorities)


def _set_key(context: ssl.SSLContext, store: KeyStore) -> None:
    """OpenSSL takes a file only: one that is deleted at once, encrypted by a random password."""
    from cryptography.hazmat.primitives import serialization as form

    password = secrets.token_bytes(32).hex()
    key = store.key.private_bytes(
        form.Encoding.PEM,
        form.PrivateFormat.PKCS8,
        form.BestAvailableEncryption(password.encode()),
    )
    chain = b"".join(one.public_bytes(form.Encoding.PEM) for one in store.chain)
    descriptor, path = tempfile.mkstemp(prefix="ottla-", suffix=".pem")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(key + chain)
        context.load_cert_chain(path, password=password)
    except ssl.SSLError as failure:
        why = (failure.reason or str(failure)).lower().replace("_", " ")
        raise TlsUnusable(f"OpenSSL refuses the certificate of the broker: {why}") from failure
    except OSError as failure:
        raise TlsUnusable(f"cannot write into {tempfile.gettempdir()}: {failure}") from failure
    finally:
        os.unlink(path)
