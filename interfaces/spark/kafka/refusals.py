"""What a client of librdkafka says of its connections, and when hoping any longer is no use.

librdkafka connects again and again, whatever the reason is why nobody lets it in: a wrong password
is a wrong password after half a minute, too.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from interfaces.spark.kafka.options import KafkaOptions
from interfaces.spark.query.failures import JobFailed
from interfaces.terminal.addresses import addresses
from interfaces.terminal.reachable import PROBE_S
from interfaces.terminal.tls import speaks_tls

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

#: Of several brokers one may know the password, or have the right certificate.
GRACE_S = 3.0
_WHERE = re.compile(r"^\w+://|^(?=[^/ ]+:\d+/)")
_WHEN = re.compile(r" \(after \d+ms in state \w+\)")
_UNTRUSTED = "certificate could not be verified"
_LIBRARY = re.compile(r"error:[0-9A-F]{8}:SSL routines::")


class Refusals:
    """The `error_cb` of a client that was made when this was: called when the client is polled."""

    def __init__(self, options: KafkaOptions) -> None:
        self._servers = options.servers
        self._protocol = str(options.client().get("security.protocol", "plaintext")).lower()
        self._began = time.monotonic()
        self._is_closed = False
        #: The last one, and the last one that says why nobody is let in.
        self.complaint = ""
        self._refusal = ""

    def __call__(self, error: KafkaError) -> None:
        from confluent_kafka import KafkaError

        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._is_closed = True
            return
        self.complaint = _plain(error.str())
        says_why = error.code() in (KafkaError._AUTHENTICATION, KafkaError._SSL)
        if says_why or ("SSL" in error.str() and not self._refusal):
            self._refusal = self.complaint

    def check(self) -> None:
        """While a client that was never answered waits: raises where it waits in vain."""
        if time.monotonic() - self._began < GRACE_S:
            return
        if self._refusal:
            raise JobFailed(f"no broker lets this client in: {self._refusal}")
        if why := self._other_protocol():
            raise JobFailed(f"{self._servers}: {why}")

    def why(self) -> str:
        """Of one that waited as long as it may; empty where nothing is known."""
        if self.complaint or not self._is_closed:
            return self.complaint
        return self._other_protocol() or (
            "it takes connections and closes them again; does it want a password "
            "(kafka.security.protocol=SASL_SSL or SASL_PLAINTEXT)?"
        )

    def _other_protocol(self) -> str:
        """librdkafka does not say why a connection without TLS is closed."""
        if self.complaint or not self._is_closed or self._protocol.endswith("ssl"):
            return ""
        if any(speaks_tls(address, PROBE_S) for address in addresses(self._servers)):
            return "it speaks TLS, and the client does not: kafka.security.protocol=SSL or SASL_SSL"
        return ""


def _plain(said: str) -> str:
    """Without how long it took librdkafka to learn it."""
    said = _LIBRARY.sub("", _WHEN.sub("", _WHERE.sub("", said)))
    place, slash, rest = said.partition("/bootstrap: ")
    said = f"{place}: {rest}" if slash else said
    return f"{said}, or it is for another name" if _UNTRUSTED in said else said
