"""An Apache Kafka with listeners for TLS, client certificates and passwords."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.oracle.kafka import KafkaNotFound, find_jars, free_port, running_kafka

USER, PASSWORD = "ann", "PaSs-of-ann-7301"
KEY_PASSWORD = "PaSs-of-key-5522"
_HOST = "127.0.0.1"
_PROPERTIES = """
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,TLS:SSL,MUTUAL:SSL,LOGIN:SASL_SSL
ssl.keystore.type=PEM
ssl.keystore.location={broker}
ssl.truststore.type=PEM
ssl.truststore.location={authority}
listener.name.mutual.ssl.client.auth=required
listener.name.login.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512
listener.name.login.plain.sasl.jaas.config={plain} required user_{user}="{password}";
listener.name.login.scram-sha-512.sasl.jaas.config={scram} required;
"""
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"


@dataclass(frozen=True)
class Files:
    """PEM files, and a PKCS12 store of the client; `stranger` is an unknown authority."""

    authority: Path
    stranger: Path
    broker: Path
    client: Path
    client_store: Path


@dataclass(frozen=True)
class Secured:
    plain: str
    tls: str
    #: Requires a client certificate too.
    mutual: str
    #: TLS, and user and password.
    login: str
    files: Files


@contextmanager
def secured_kafka(folder: Path) -> Iterator[Secured]:
    """Raises KafkaNotFound without Java, Kafka or openssl."""
    jars = find_jars()
    if shutil.which("openssl") is None:
        raise KafkaNotFound("no openssl on this machine")
    files = _files(folder)
    tls, mutual, login = (f"{_HOST}:{free_port()}" for _ in range(3))
    listeners = (f"TLS://{tls}", f"MUTUAL://{mutual}", f"LOGIN://{login}")
    facts = {"plain": PLAIN, "scram": SCRAM, "user": USER, "password": PASSWORD}
    properties = _PROPERTIES.format(broker=files.broker, authority=files.authority, **facts)
    credentials = ("--add-scram", f"SCRAM-SHA-512=[name={USER},password={PASSWORD}]")
    with running_kafka(jars, folder, properties, listeners, credentials) as plain:
        yield Secured(plain.bootstrap, tls, mutual, login, files)


def _files(folder: Path) -> Files:
    authority, stranger = _made(folder, "authority"), _made(folder, "stranger")
    broker, client = (_made(folder, name, authority) for name in ("broker", "client"))
    store = folder / "client.p12"
    words = ("-in", client, "-out", store, "-passout", f"pass:{KEY_PASSWORD}")
    _openssl("pkcs12", "-export", *words)
    return Files(authority, stranger, broker, client, store)


def _made(folder: Path, name: str, authority: Path | None = None) -> Path:
    """Key and certificate in one file, self-signed or by the authority, for 127.0.0.1 only."""
    file, public = folder / f"{name}.pem", folder / f"{name}.crt"
    signed = ("-CA", authority, "-CAkey", authority) if authority else ()
    _openssl(
        *("req", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={name}"),
        *("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"),
        *("-addext", f"subjectAltName=IP:{_HOST}", "-keyout", file, "-out", public, *signed),
    )
    file.write_bytes(file.read_bytes() + public.read_bytes())
    return file


def _openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)
