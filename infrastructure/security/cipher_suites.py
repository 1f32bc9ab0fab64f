"""`ssl.cipher.suites`: from the names of IANA and Java to those of OpenSSL."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterable

#: Python cannot choose among those of TLS 1.3.
TLS_1_3 = frozenset(
    ("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256")
)
_AES = re.compile(r"AES_(\d+)")


def limit_to(context: ssl.SSLContext, names: Iterable[str]) -> None:
    """Raises ValueError with the expected text."""
    chosen = set(names)
    newest, older = chosen & TLS_1_3, chosen - TLS_1_3
    if newest and newest != TLS_1_3:
        raise ValueError(f"all of {', '.join(sorted(TLS_1_3))}, or none")
    if not newest:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    if not older:
        context.minimum_version = ssl.TLSVersion.TLSv1_3
    if context.minimum_version > context.maximum_version:
        raise ValueError("a cipher suite for each version of ssl.enabled.protocols")
    for name in sorted(older):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).set_ciphers(openssl_name(name))
        except ssl.SSLError as failure:
            raise ValueError(f"suites that OpenSSL has, not {name}") from failure
    if older:
        context.set_ciphers(":".join(openssl_name(name) for name in sorted(older)))


def openssl_name(name: str) -> str:
    """`ECDHE-RSA-AES128-GCM-SHA256` of `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`."""
    exchange, found, cipher = name.partition("_WITH_")
    if not found:
        return name
    exchange = exchange.removeprefix("TLS_")
    cipher = _AES.sub(r"AES\1", cipher).replace("_CBC", "")
    if cipher.startswith("CHACHA20"):
        cipher = cipher.removesuffix("_SHA256")
    parts = cipher if exchange == "RSA" else f"{exchange}_{cipher}"
    return parts.replace("_", "-")
