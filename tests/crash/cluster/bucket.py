"""The bucket of three brokers: small tails soon become objects in it, and it fails by a relay."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial

from tests.contract.s3_objects import Objects
from tests.contract.s3_server import running_s3
from tests.fakes.http_relay import HttpRelay

AWAY, FAILS, LOSES = "bucket away", "bucket fails", "responses of the bucket lost"
SLOW = "bucket slow"
OF_THE_BUCKET = {AWAY: 1, FAILS: 1, LOSES: 1, SLOW: 1}
#: Each of its responses.
DELAY_S = 1.0
#: Longer than the asynchronous standby lags that is promoted: it may need what is garbage before.
DELETE_DELAY_MS = 15_000


class CrashBucket:
    def __init__(self) -> None:
        server = running_s3()
        self._relay = HttpRelay(server.port)
        self.objects = Objects(server)
        #: Of the URL of the store.
        self.more = f"{self.objects.url}&local.bytes=0&commit.to=objects"
        self.more += f"&delete.delay.ms={DELETE_DELAY_MS}"
        # Brokers have our variables.
        os.environ.update(server.environment | {"AWS_ENDPOINT_URL_S3": self._relay.endpoint})

    def happen(self, kind: str, lasts_s: float) -> None:
        begin: dict[str, Callable[[], None]] = {
            AWAY: self._relay.refuse,
            FAILS: partial(self._relay.respond, 503, "SlowDown"),
            LOSES: self._relay.lose,
            SLOW: partial(self._relay.delay, DELAY_S),
        }
        begin[kind]()
        time.sleep(lasts_s)
        self._relay.pass_all()
        self._relay.accept()

    def close(self) -> None:
        self._relay.close()
