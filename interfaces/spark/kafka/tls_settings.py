"""Keys and certificates: what Java has in stores, librdkafka has in PEM files or PKCS12."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath

from interfaces.spark.query.failures import WrongOption

_PEM = "PEM"
_PKCS12 = "PKCS12"
_BY_ENDING = {".pem": _PEM, ".crt": _PEM, ".p12": _PKCS12, ".pfx": _PKCS12}
_HANDLED = (
    "ssl.truststore.",
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.keystore.key",
    "ssl.keystore.certificate.chain",
    "ssl.endpoint.identification.algorithm",
)


def tls_settings(given: Mapping[str, str]) -> dict[str, str]:
    """Of settings that begin with `ssl.`; those of librdkafka itself stay as they are."""
    settings = {name: value for name, value in given.items() if not name.startswith(_HANDLED)}
    if "ssl.endpoint.identification.algorithm" in given:
        # Java turns the check of the broker's name off by an empty text.
        settings["ssl.endpoint.identification.algorithm"] = (
            given["ssl.endpoint.identification.algorithm"].lower() or "none"
        )
    _add_trust(given, settings)
    _add_key(given, settings)
    return settings


def _add_trust(given: Mapping[str, str], settings: dict[str, str]) -> None:
    if "ssl.truststore.certificates" in given:
        settings["ssl.ca.pem"] = given["ssl.truststore.certificates"]
    if location := given.get("ssl.truststore.location"):
        if _kind(given, "ssl.truststore", location) != _PEM:
            raise WrongOption(
                "kafka.ssl.truststore.location: a store of Java cannot be read here; put its "
                "certificates into a PEM file and name that in kafka.ssl.ca.location"
            )
        settings["ssl.ca.location"] = location


def _add_key(given: Mapping[str, str], settings: dict[str, str]) -> None:
    if "ssl.keystore.key" in given:
        settings["ssl.key.pem"] = given["ssl.keystore.key"]
    if "ssl.keystore.certificate.chain" in given:
        settings["ssl.certificate.pem"] = given["ssl.keystore.certificate.chain"]
    location = given.get("ssl.keystore.location")
    if not location:
        return
    kind = _kind(given, "ssl.keystore", location)
    if kind == _PEM:
        settings["ssl.certificate.location"] = settings["ssl.key.location"] = location
    elif kind == _PKCS12:
        settings["ssl.keystore.location"] = location
    else:
        raise WrongOption(
            "kafka.ssl.keystore.location: a store of Java (JKS) cannot be read here; name PEM "
            "files in kafka.ssl.certificate.location and kafka.ssl.key.location, and the "
            "authority in kafka.ssl.ca.location, or use PKCS12"
        )


def _kind(given: Mapping[str, str], store: str, location: str) -> str:
    named = given.get(f"{store}.type", "").upper()
    return named or _BY_ENDING.get(PurePath(location).suffix.lower(), "JKS")
