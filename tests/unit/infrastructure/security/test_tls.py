from __future__ import annotations

import os
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest

from domain.configs.broker import BrokerConfig
from domain.configs.listener_security import ListenerSecurity, SecurityProtocol
from domain.security.principal import Principal
from infrastructure.security.cipher_suites import openssl_name
from infrastructure.security.stores import StoreSettings, TlsUnusable
from infrastructure.security.tls import TlsCertificates
from tests.fakes import certificates

AUTHORITY = certificates.authority()
BROKER = certificates.broker(AUTHORITY)
PEM = {"ssl.keystore.type": "PEM", "ssl.truststore.type": "PEM"}

#: One of the three of TLS 1.3.
NOT_ALL = "TLS_AES_256_GCM_SHA384"


def made(settings: dict[str, str]) -> TlsCertificates:
    security = ListenerSecurity("X", SecurityProtocol.SSL, BrokerConfig(settings))
    return TlsCertificates(StoreSettings(security.value, security.key_of))


def trusting(client: Path | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=AUTHORITY.certificate_pem.decode())
    if client is not None:
        context.load_cert_chain(client)
    return context


def handshake(server: ssl.SSLContext, client: ssl.SSLContext | None = None) -> ssl.SSLObject:
    """The side of the broker after a complete handshake."""
    to_client, to_broker = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = server.wrap_bio(to_broker, to_client, server_side=True)
    theirs = (client or trusting()).wrap_bio(to_client, to_broker, server_hostname="localhost")
    for side in (theirs, ours) * 3:
        try:
            side.do_handshake()
        except ssl.SSLWantReadError:
            continue
    assert ours.version() is not None
    return ours


def key_store(folder: Path, **more: str) -> dict[str, str]:
    path = certificates.write(folder, broker=BROKER.pem)["broker"]
    return {**PEM, "ssl.keystore.location": str(path), **more}


# ---- keystores


def test_a_pem_file_has_key_and_certificates_in_any_order(tmp_path: Path) -> None:
    both = BROKER.certificate_pem + BROKER.key_pem()
    file = certificates.write(tmp_path, broker=b"text before\n" + both)["broker"]
    handshake(made({**PEM, "ssl.keystore.location": str(file)}).context)


def test_a_pem_key_may_be_encrypted(tmp_path: Path) -> None:
    data = BROKER.key_pem("hush") + BROKER.certificate_pem
    file = certificates.write(tmp_path, broker=data)["broker"]
    settings = {**PEM, "ssl.keystore.location": str(file)}
    handshake(made({**settings, "ssl.key.password": "hush"}).context)
    with pytest.raises(TlsUnusable, match=r"is encrypted; set ssl.key.password"):
        made(settings)
    with pytest.raises(TlsUnusable, match=r"wrong ssl.key.password") as failure:
        made({**settings, "ssl.key.password": "wrong-one"})
    assert "wrong-one" not in str(failure.value)


def test_key_and_certificates_may_be_text() -> None:
    settings = {
        **PEM,
        "ssl.keystore.key": BROKER.key_pem().decode(),
        "ssl.keystore.certificate.chain": BROKER.certificate_pem.decode(),
    }
    handshake(made(settings).context)


@pytest.mark.parametrize("kind", ["PKCS12", "JKS"])
def test_a_pkcs12_file_has_key_and_certificates(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "broker.p12"
    file.write_bytes(BROKER.pkcs12("hush", AUTHORITY.certificate))
    settings = {"ssl.keystore.type": kind, "ssl.keystore.location": str(file)}
    handshake(made({**settings, "ssl.keystore.password": "hush"}).context)
    with pytest.raises(TlsUnusable, match="wrong password, or not a PKCS12 file"):
        made({**settings, "ssl.keystore.password": "wrong"})


@pytest.mark.skipif(shutil.which("keytool") is None, reason="no keytool on this machine")
def test_a_jks_file_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    first, second = tmp_path / "store", tmp_path / "store.p12"
    words = ("-alias", "b", "-dname", "CN=b", "-keyalg", "EC", "-storepass", "password")
    command = ("keytool", "-genkeypair", *words, "-keypass", "password", "-storetype", "JKS")
    subprocess.run([*command, "-keystore", first], check=True, capture_output=True)
    settings = {"ssl.keystore.location": str(first), "ssl.keystore.password": "password"}
    with pytest.raises(TlsUnusable, match="is a JKS file; convert it: keytool ") as failure:
        made(settings)
    convert = str(failure.value).partition("convert it: ")[2].split()
    passwords = ("-srcstorepass", "password", "-deststorepass", "password")
    subprocess.run([*convert, *passwords], check=True, capture_output=True)
    assert made({**settings, "ssl.keystore.location": str(second)}).not_after


@pytest.mark.parametrize(
    "settings, why",
    [
        ({}, "no certificate for the broker: set ssl.keystore.location"),
        ({"ssl.keystore.location": "/no/such"}, "/no/such: No such file or directory"),
        ({"ssl.keystore.location": "{folder}"}, "Is a directory"),
        ({"ssl.keystore.location": "{junk}", "ssl.keystore.type": "PEM"}, "is not PEM"),
        ({"ssl.keystore.location": "{junk}"}, "wrong password, or not a PKCS12 file"),
        ({"ssl.keystore.location": "{pem}"}, "is PEM: set ssl.keystore.type = PEM"),
        ({**PEM, "ssl.keystore.location": "{key}"}, "has no certificate"),
        ({**PEM, "ssl.keystore.location": "{certificate}"}, "has no private key"),
        ({**PEM, "ssl.keystore.location": "{other}"}, "the private key does not fit"),
        ({**PEM, "ssl.keystore.location": "{broken}"}, "a broken private key"),
        (
            {**PEM, "ssl.keystore.location": "{pem}", "ssl.keystore.password": "x"},
            "ssl.keystore.password is not for PEM",
        ),
        ({**PEM, "ssl.keystore.key": "x"}, "need each other"),
        ({"ssl.keystore.key": "x"}, "ssl.keystore.type must be PEM"),
        ({**PEM, "ssl.keystore.key": "x", "ssl.keystore.location": "y"}, "one of them only"),
        (
            {**PEM, "ssl.keystore.location": "{pem}", "ssl.principal.mapping.rules": "nope"},
            "ssl.principal.mapping.rules is not allowed: expected RULE:pattern",
        ),
        (
            {**PEM, "ssl.keystore.location": "{pem}", "ssl.cipher.suites": "TLS_NO_SUCH"},
            "ssl.cipher.suites is not allowed: expected suites that OpenSSL has, not TLS_NO_SUCH",
        ),
        (
            {
                **PEM,
                "ssl.keystore.location": "{pem}",
                "ssl.cipher.suites": "TLS_AES_128_GCM_SHA256",
            },
            "expected all of",
        ),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(
    tmp_path: Path, settings: dict[str, str], why: str
) -> None:
    other = certificates.broker(AUTHORITY)
    broken = b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
    files = certificates.write(
        tmp_path,
        junk=b"\x01\x02\x03",
        pem=BROKER.pem,
        key=BROKER.key_pem(),
        certificate=BROKER.certificate_pem,
        other=other.key_pem() + BROKER.certificate_pem,
        broken=BROKER.certificate_pem + broken,
    )
    filled = {
        name: text.format(folder=tmp_path, **files) if "location" in name else text
        for name, text in settings.items()
    }
    with pytest.raises(TlsUnusable) as failure:
        made(filled)
    assert why in str(failure.value)
    assert "\n" not in str(failure.value)


def test_no_key_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stores = tmp_path / "stores"
    stores.mkdir()
    made(key_store(stores))
    assert os.listdir(tmp_path) == ["stores"]


# ---- truststores


@pytest.mark.parametrize("form", ["file", "text", "pkcs12"])
def test_clients_of_a_trusted_authority_are_known(tmp_path: Path, form: str) -> None:
    settings = key_store(tmp_path, **{"ssl.client.auth": "required"})
    if form == "file":
        path = certificates.write(tmp_path, trusted=AUTHORITY.certificate_pem)["trusted"]
        settings["ssl.truststore.location"] = str(path)
    elif form == "text":
        settings["ssl.truststore.certificates"] = AUTHORITY.certificate_pem.decode()
    else:
        path = tmp_path / "trusted.p12"
        path.write_bytes(AUTHORITY.pkcs12("hush"))
        settings |= {"ssl.truststore.location": str(path), "ssl.truststore.password": "hush"}
        settings["ssl.truststore.type"] = "PKCS12"
    alice = certificates.client(AUTHORITY, "alice", o="Ottla")
    tls = made(settings)
    client = trusting(certificates.write(tmp_path, alice=alice.pem)["alice"])
    found = handshake(tls.context, client).getpeercert(binary_form=True)
    assert found is not None
    assert tls.principal_of(found) == Principal("User", "CN=alice,O=Ottla")
    with pytest.raises(ssl.SSLError):
        handshake(tls.context)


def test_a_certificate_may_be_trusted_itself(tmp_path: Path) -> None:
    """As in Java, without its authority."""
    alice = certificates.client(AUTHORITY, "alice")
    files = certificates.write(tmp_path, alice=alice.pem, trusted=alice.certificate_pem)
    settings = {"ssl.client.auth": "required", "ssl.truststore.location": str(files["trusted"])}
    tls = made(key_store(tmp_path, **settings))
    assert handshake(tls.context, trusting(files["alice"])).getpeercert()


def test_an_empty_truststore_is_refused(tmp_path: Path) -> None:
    path = certificates.write(tmp_path, key=BROKER.key_pem())["key"]
    settings = {"ssl.client.auth": "requested", "ssl.truststore.location": str(path)}
    with pytest.raises(TlsUnusable, match=r"ssl.truststore.location .* has no certificate"):
        made(key_store(tmp_path, **settings))


# ---- versions and cipher suites


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
def test_versions_may_be_limited(tmp_path: Path, version: str) -> None:
    tls = made(key_store(tmp_path, **{"ssl.enabled.protocols": version}))
    assert handshake(tls.context).version() == version


def test_cipher_suites_have_the_names_of_kafka(tmp_path: Path) -> None:
    suite = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    tls = made(key_store(tmp_path, **{"ssl.cipher.suites": suite}))
    cipher = handshake(tls.context).cipher()
    assert cipher is not None
    assert cipher[:2] == ("ECDHE-ECDSA-AES256-GCM-SHA384", "TLSv1.2")


@pytest.mark.parametrize(
    "name, expected",
    [
        ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
        ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
        ("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384", "ECDHE-RSA-AES256-SHA384"),
        ("TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"),
        ("TLS_DHE_RSA_WITH_AES_256_GCM_SHA384", "DHE-RSA-AES256-GCM-SHA384"),
        ("ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES128-SHA256"),
    ],
)
def test_each_suite_has_a_name_in_openssl(name: str, expected: str) -> None:
    assert openssl_name(name) == expected
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(expected)


# ---- renewal


def test_changed_files_are_used_and_broken_ones_are_not(tmp_path: Path) -> None:
    tls = made(key_store(tmp_path))
    before, context = tls.not_after, tls.context
    assert not tls.changed()
    certificates.write(tmp_path, broker=b"broken")
    assert (tls.changed(), tls.changed()) == (True, False)
    with pytest.raises(TlsUnusable):
        tls.renew()
    assert (tls.context, tls.not_after) == (context, before)
    renewed = certificates.broker(AUTHORITY, days=9)
    certificates.write(tmp_path, broker=renewed.pem)
    assert tls.changed()
    tls.renew()
    assert tls.not_after == renewed.certificate.not_valid_after_utc.isoformat() != before
    handshake(tls.context)
    (tmp_path / "broker.pem").unlink()
    assert tls.changed()
