"""Options of clients by their names in the Java client, translated for librdkafka.

Most names are the same in both clients. librdkafka checks names and values itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePath

#: The Java client's name: librdkafka's name.
_RENAMED = {
    "buffer.memory": "queue.buffering.max.kbytes",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.partition.fetch.bytes": "fetch.message.max.bytes",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "ssl.truststore.certificates": "ssl.ca.pem",
}
#: The level of the codec in compression.type is librdkafka's compression.level.
_LEVELS = ("compression.gzip.level", "compression.lz4.level", "compression.zstd.level")
#: Prefixes of settings that only the Java client has and that change no record.
_IGNORED = (
    "auto.include.jmx.reporter",
    "default.api.timeout.ms",
    "exclude.internal.topics",
    "max.block.ms",
    "max.poll.records",
    "metadata.max.idle.ms",
    "metric",
    "partition.assignment.strategy",
    "partitioner.adaptive",
    "partitioner.availability",
    "partitioner.class",  # the sink refuses it
    "sasl.kerberos.ticket.",
    "sasl.login.connect",
    "sasl.login.read",
    "sasl.login.refresh",
    "sasl.login.retry",
    "security.providers",
    "socket.connection.setup.timeout.max.ms",
    "ssl.enabled.protocols",
    "ssl.keymanager.algorithm",
    "ssl.protocol",
    "ssl.provider",
    "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm",
    "ssl.truststore.password",
)
_LOGIN_MODULE = re.compile(r"\s*[\w.$]*?(\w+)\s+(?:required|requisite|sufficient|optional)\b(.*)")
_LOGIN_OPTION = re.compile(r"""(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"']+)(?=[\s;]|$))""")
_STORE_TYPES = {".pem": "PEM", ".crt": "PEM", ".p12": "PKCS12", ".pfx": "PKCS12"}


def for_librdkafka(given: Mapping[str, str]) -> dict[str, str]:
    """Raises ValueError for one without a counterpart in librdkafka."""
    settings: dict[str, str] = {}
    renamed = renamed_in(given)
    for name, value in given.items():
        if name.startswith(_IGNORED) or (name in _LEVELS and name not in renamed):
            continue
        if name.endswith((".class", ".classes")):
            raise ValueError(f"{name} is not supported: librdkafka does not load Java classes")
        if name == "sasl.jaas.config":
            settings |= login(value)
        else:
            in_kbytes = name == "buffer.memory" and value.strip().isdecimal()
            settings[renamed.get(name, name)] = str(-(-int(value) // 1024)) if in_kbytes else value
    _translate_stores(settings)
    return settings


def renamed_in(given: Mapping[str, str]) -> dict[str, str]:
    """librdkafka's names of the `given` settings that it calls otherwise."""
    level = f"compression.{given.get('compression.type', '').strip().lower()}.level"
    names = _RENAMED | ({level: "compression.level"} if level in _LEVELS else {})
    return {name: names[name] for name in given if name in names}


def login(jaas: str) -> dict[str, str]:
    """User and password out of a line of JAAS."""
    found = _LOGIN_MODULE.match(jaas)
    pairs = _LOGIN_OPTION.findall(found[2]) if found else ()
    options = {name: plain or re.sub(r"\\(.)", r"\1", quoted) for name, quoted, plain in pairs}
    if (
        not found
        or found[1] not in ("PlainLoginModule", "ScramLoginModule")
        or not options.keys() >= {"username", "password"}
    ):
        raise ValueError(
            "sasl.jaas.config is not supported; expected PlainLoginModule or "
            "ScramLoginModule, like `org.apache.kafka.common.security.plain.PlainLoginModule "
            'required username="u" password="p";`'
        )
    return {"sasl.username": options["username"], "sasl.password": options["password"]}


def _translate_stores(settings: dict[str, str]) -> None:
    """Certificates and keys: librdkafka reads PEM files, and PKCS #12 for its own key."""
    if settings.get("ssl.endpoint.identification.algorithm") == "":
        settings["ssl.endpoint.identification.algorithm"] = "none"
    trust_type = settings.pop("ssl.truststore.type", "")
    if location := settings.pop("ssl.truststore.location", ""):
        if _store_type(trust_type, location) != "PEM":
            raise ValueError(
                f"ssl.truststore.location: librdkafka does not read {location}; "
                "export the certificates to a PEM file and set ssl.ca.location"
            )
        settings["ssl.ca.location"] = location
    key_type = settings.pop("ssl.keystore.type", "")
    if not (location := settings.get("ssl.keystore.location", "")):
        return
    kind = _store_type(key_type, location)
    if kind == "PEM":
        del settings["ssl.keystore.location"]
        settings["ssl.certificate.location"] = settings["ssl.key.location"] = location
    elif kind != "PKCS12":
        raise ValueError(
            f"ssl.keystore.location: librdkafka does not read {location}; convert it "
            "to PKCS12, or set ssl.certificate.location and ssl.key.location (PEM)"
        )


def _store_type(named: str, location: str) -> str:
    return named.upper() or _STORE_TYPES.get(PurePath(location).suffix.lower(), "JKS")
