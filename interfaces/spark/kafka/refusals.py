"""Connection errors of a client, and when to give up.

librdkafka reconnects for ever, also after a wrong password or an untrusted certificate.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from interfaces.spark.query.failures import JobFailed

if TYPE_CHECKING:
    from confluent_kafka import KafkaError

#: With several brokers, another one may accept the client.
GRACE_S = 3.0
_CLOSED = "brokers close the connection; check kafka.security.protocol (TLS or SASL required?)"


class Refusals:
    """The `error_cb` of one client; librdkafka calls it while the client is polled."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._all_down = False
        #: The last error of any connection, and the last one of TLS or SASL.
        self.complaint = ""
        self._refusal = ""

    def __call__(self, error: KafkaError) -> None:
        from confluent_kafka import KafkaError

        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._all_down = True
            return
        self.complaint = error.str()
        of_security = error.code() in (KafkaError._AUTHENTICATION, KafkaError._SSL)
        if of_security or ("SSL" in error.str() and not self._refusal):
            self._refusal = self.complaint

    def check(self) -> None:
        """Raises if waiting for a first response is in vain."""
        is_early = time.monotonic() - self._began < GRACE_S
        if not is_early and (why := self._refusal or self._closed()):
            raise JobFailed(f"no broker accepts this client: {why}")

    def why(self) -> str:
        """The reason for a timeout; empty if none is known."""
        return self.complaint or self._closed()

    def _closed(self) -> str:
        """librdkafka reports no error when a broker closes a plaintext connection at once."""
        return _CLOSED if self._all_down and not self.complaint else ""
