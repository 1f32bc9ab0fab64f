"""TLS and logins: brokers with a listener for each, and what they cost."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from confluent_kafka.admin import (
    AdminClient,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from infrastructure.security import authority
from tests.bench.brokers import Broker, Contender, kafka, ottla
from tests.bench.filled import Topic, filled
from tests.bench.gauges import Figures
from tests.bench.raw_loads import FETCH, PRODUCE, Rawbench
from tests.bench.runs import Load
from tests.bench.stall import TOPIC, pinged

TLS, LOGIN = "TLS", "LOGIN"
USER, PASSWORD = "ann", "PaSs-of-ann-7301"
MECHANISMS = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}
#: Kafka's tools use so many.
ITERATIONS = 4096
AT_ONCE = 10
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
_PATIENCE_S = 30


def contenders(libs: Path | None, folder: Path) -> list[Contender]:
    shutil.rmtree(folder, ignore_errors=True)
    now = datetime.now(UTC)
    authority.make_authority(folder, now)
    authority.issue(folder, ["localhost", "127.0.0.1"], now)
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str((folder / authority.BROKER).absolute()),
        "sasl.enabled.mechanisms": ",".join(MECHANISMS),
    }
    listeners = f"{TLS}:SSL,{LOGIN}:SASL_PLAINTEXT"
    own = settings | {"listener.security.protocol.map": f"PLAINTEXT:PLAINTEXT,{listeners}"}
    words = [word for name, value in own.items() for word in ("--set", f"{name}={value}")]
    listen = "127.0.0.1:0", f"{TLS}://127.0.0.1:0", f"{LOGIN}://127.0.0.1:0"
    found = [ottla("os", *words, listen=listen)]
    if libs:
        java = own["listener.security.protocol.map"]
        own["listener.security.protocol.map"] = f"{java},CONTROLLER:PLAINTEXT"
        for name in MECHANISMS:
            own[f"listener.name.{LOGIN.lower()}.{name.lower()}.sasl.jaas.config"] = _SCRAM
        properties = "".join(f"{name}={value}\n" for name, value in own.items())
        found.append(kafka(libs, "os", properties, (TLS, LOGIN)))
    return found


def loads(rawbench: Rawbench, topic: Topic, seconds: float) -> Iterator[Load]:
    for shape in PRODUCE[1], PRODUCE[5], PRODUCE[6]:
        produce = partial(rawbench.produce, shape=shape, seconds=seconds)
        yield Load(f"produce, {shape.name}", partial(_over_tls, run=produce))
    for name, size in FETCH.items():
        fetch = partial(rawbench.fetch, topic=topic.name, max_bytes=size, seconds=seconds)
        fill = partial(filled, topic=topic, filler=rawbench)
        yield Load(f"fetch, {name}", partial(_over_tls, run=fetch), fill)
    yield Load(
        "pings beside fetch, 1 MB responses",
        partial(_pinged, rawbench=rawbench, topic=topic.name, seconds=seconds),
        partial(filled, topic=TOPIC, filler=rawbench),
    )
    shake_hands = partial(rawbench.handshakes, count=AT_ONCE, seconds=seconds)
    yield Load(f"handshakes, {AT_ONCE} at once", partial(_over_tls, run=shake_hands))
    for name, mechanism in MECHANISMS.items():
        log_in = partial(
            rawbench.logins, login=f"{name}:{USER}:{PASSWORD}", count=AT_ONCE, seconds=seconds
        )
        yield Load(
            f"logins by {name}, {AT_ONCE} at once",
            partial(_logged_in, run=log_in),
            partial(_add_user, mechanism=mechanism),
        )


def _over_tls(broker: Broker, run: partial[Figures]) -> Figures:
    return run(broker.at(TLS, tls=True))


def _logged_in(broker: Broker, run: partial[Figures]) -> Figures:
    return run(broker.at(LOGIN))


def _pinged(broker: Broker, rawbench: Rawbench, topic: str, seconds: float) -> Figures:
    """Pings without TLS: what others wait for while responses are encrypted."""
    size = FETCH["1 MB responses"]
    fetch = partial(rawbench.fetch, topic=topic, max_bytes=size, seconds=seconds, warm_s=0)
    return pinged(broker, partial(_over_tls, run=fetch))


def _add_user(broker: Broker, mechanism: ScramMechanism) -> None:
    client = AdminClient({"bootstrap.servers": broker.address})
    credential = ScramCredentialInfo(mechanism, ITERATIONS)
    user = UserScramCredentialUpsertion(USER, credential, PASSWORD.encode())
    for done in client.alter_user_scram_credentials([user]).values():
        done.result(_PATIENCE_S)
