"""Settings of a Kafka client as Java spells them, for librdkafka, which reads and writes here.

Most are the same in both. What only the Java client has, and changes nothing of what is read or
written, is left out; what cannot be the same is refused with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from interfaces.spark.failures import WrongOption
from interfaces.spark.kafka.tls_settings import tls_settings

_RENAMED = {
    "buffer.memory": "queue.buffering.max.kbytes",
    "default.api.timeout.ms": None,
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}
_UNITS = {"buffer.memory": 1024}
#: Of the Java client alone; without them, nothing is read or written differently.
_OF_JAVA = (
    "auto.include.jmx.reporter",
    "exclude.internal.topics",
    "max.block.ms",
    "max.poll.records",
    "metadata.recovery.strategy",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "partition.assignment.strategy",
    "partitioner.class",
    "sasl.kerberos.ticket.renew.jitter",
    "sasl.kerberos.ticket.renew.window.factor",
    "security.providers",
    "ssl.enabled.protocols",
    "ssl.keymanager.algorithm",
    "ssl.protocol",
    "ssl.provider",
    "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm",
)
_REFUSED = {
    "auto.offset.reset": "the options startingOffsets and failOnDataLoss say where reading starts",
    "enable.auto.commit": "offsets are kept in the checkpoint of the query, not in a group",
    "enable.auto.offset.store": "offsets are kept in the checkpoint of the query, not in a group",
    "interceptor.classes": "an interceptor could change keys and values, and is a class of Java",
    "key.deserializer": "keys are read as bytes; columns are cast in the query",
    "key.serializer": "keys are written as bytes or text; columns are cast in the query",
    "value.deserializer": "values are read as bytes; columns are cast in the query",
    "value.serializer": "values are written as bytes or text; columns are cast in the query",
    "sasl.client.callback.handler.class": "it is a class of Java",
    "sasl.login.callback.handler.class": "it is a class of Java",
    "sasl.login.class": "it is a class of Java",
    "ssl.engine.factory.class": "it is a class of Java",
}
#: The same in both, or of librdkafka alone; for suggestions only: any other goes to librdkafka.
_COMMON = (
    "acks",
    "allow.auto.create.topics",
    "batch.size",
    "bootstrap.servers",
    "check.crcs",
    "client.dns.lookup",
    "client.id",
    "client.rack",
    "compression.type",
    "connections.max.idle.ms",
    "delivery.timeout.ms",
    "enable.idempotence",
    "fetch.max.bytes",
    "fetch.min.bytes",
    "group.id",
    "group.instance.id",
    "heartbeat.interval.ms",
    "isolation.level",
    "linger.ms",
    "max.in.flight.requests.per.connection",
    "max.poll.interval.ms",
    "metadata.max.age.ms",
    "queued.max.messages.kbytes",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "retries",
    "retry.backoff.ms",
    "sasl.jaas.config",
    "sasl.mechanism",
    "sasl.password",
    "sasl.username",
    "security.protocol",
    "session.timeout.ms",
    "socket.connection.setup.timeout.ms",
    "ssl.ca.location",
    "ssl.certificate.location",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.keystore.type",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.truststore.type",
    "transaction.timeout.ms",
    "transactional.id",
)

#: An idempotent producer waits for all replicas.
_WITHOUT_IDEMPOTENCE = ("0", "1")

_LOGIN_MODULE = re.compile(r"\s*[\w.$]*?(\w+)\s+(?:required|requisite|sufficient|optional)\b(.*)")
_LOGIN_OPTION = re.compile(r'(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]+))')


def for_librdkafka(given: Mapping[str, str]) -> dict[str, str]:
    """`given` is without the prefix `kafka.`; raises WrongOption, which names it with it."""
    translated: dict[str, str] = {}
    tls: dict[str, str] = {}
    for name, value in given.items():
        if name in _REFUSED:
            raise WrongOption(f"kafka.{name} cannot be set: {_REFUSED[name]}")
        if name in _OF_JAVA:
            continue
        if name.startswith("ssl."):
            tls[name] = value
        elif name == "sasl.jaas.config":
            translated |= login(value)
        elif name in _RENAMED:
            if theirs := _RENAMED[name]:
                translated[theirs] = _in_unit(name, value)
        else:
            translated[name] = value
    _require_mechanism(translated)
    return translated | tls_settings(tls)


def _require_mechanism(settings: Mapping[str, str]) -> None:
    """Without one both take GSSAPI, which librdkafka has not got here."""
    if settings.get("security.protocol", "").upper().startswith("SASL") and not (
        settings.keys() & {"sasl.mechanism", "sasl.mechanisms"}
    ):
        raise WrongOption(
            "kafka.sasl.mechanism is missing: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER"
        )


def _in_unit(name: str, value: str) -> str:
    unit = _UNITS.get(name, 1)
    if name.endswith(".buffer.bytes") and value == "-1":
        return "0"  # the system's default: each client has its own number for it
    if unit == 1 or not value.isdecimal():
        return value
    return str(max(1, int(value) // unit))


def may_be_idempotent(producer: Mapping[str, object]) -> bool:
    """`producer` has librdkafka's names, of which acknowledgements have two."""
    acks = producer.get("acks", producer.get("request.required.acks"))
    return str(acks) not in _WITHOUT_IDEMPOTENCE


def login(jaas: str) -> dict[str, str]:
    """User and password out of a line of JAAS."""
    found = _LOGIN_MODULE.match(jaas)
    if not found:
        raise WrongOption(
            "kafka.sasl.jaas.config is not understood; "
            '`org.apache.kafka.common.security.plain.PlainLoginModule required username="u" '
            'password="p";` is an example'
        )
    options = {
        name: re.sub(r"\\(.)", r"\1", quoted) if quoted else plain
        for name, quoted, plain in _LOGIN_OPTION.findall(found[2])
    }
    module = found[1]
    if module in ("PlainLoginModule", "ScramLoginModule"):
        missing = {"username", "password"} - options.keys()
        if missing:
            raise WrongOption(f"kafka.sasl.jaas.config has no {' and no '.join(sorted(missing))}")
        return {"sasl.username": options["username"], "sasl.password": options["password"]}
    raise WrongOption(
        f"kafka.sasl.jaas.config: {module} cannot be used; PlainLoginModule and ScramLoginModule "
        "can, and kafka.sasl.oauthbearer.method=oidc is how librdkafka gets a token"
    )


def suggestion(name: str) -> str:
    """For a setting that librdkafka does not know."""
    known = [*_COMMON, *_RENAMED, *_OF_JAVA]
    close = get_close_matches(name, known, 1, 0.8)
    return f"; did you mean kafka.{close[0]}?" if close else ""
