"""KeySets: the public keys of an issuer (JWKS, RFC 7517), fetched by a thread and renewed.

Known keys are used at once, also while newer ones are fetched. A token with an unknown key waits
for a fetch, unless the last one was a moment ago: invented key ids must not make the broker fetch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Thread
from typing import cast
from urllib.request import Request, urlopen

import jwt

from application.ports.clock import Clock
from application.ports.event_log import EventLog
from application.ports.pending import Pending, resolved
from domain.configs.listener_security import ListenerSecurity
from domain.configs.passwords import without_password

_ENDPOINT = "sasl.oauthbearer.jwks.endpoint."
SCHEMES = ("https://", "http://", "file:///")
TIMEOUT_SECONDS = 10
MAX_BYTES = 1 << 20

#: Returns the text of the key set, or raises OSError or ValueError.
Read = Callable[[str], bytes]
Key = jwt.PyJWK | None


def read_url(url: str) -> bytes:
    """Blocks for TIMEOUT_SECONDS without data at most."""
    if not url.startswith(SCHEMES):
        raise ValueError(f"the URL must begin with {', '.join(SCHEMES)}")
    request = Request(url, headers={"Accept": "application/json"})
    with urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        data: bytes = response.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise ValueError(f"the key set has more than {MAX_BYTES} bytes")
    return data


class KeySets:
    def __init__(
        self,
        url: str,
        refresh_ms: int,
        backoff_ms: tuple[int, int],
        clock: Clock,
        events: EventLog,
        to_loop: Callable[[Callable[[], None]], None],
        read: Read = read_url,
    ) -> None:
        """`backoff_ms`: the shortest and the longest time between two attempts."""
        self._url = url
        self._refresh_ms = refresh_ms
        self._backoff_ms = backoff_ms
        self._clock = clock
        self._events = events
        self._to_loop = to_loop
        self._read = read
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._waiting: list[tuple[str | None, Pending[Key]]] = []
        self._fetching = False
        self._failures = 0
        #: Times of the clock; before them the keys are not fetched again.
        self._stale_at_ms = self._retry_at_ms = clock.monotonic_ms()

    @classmethod
    def of_listener(
        cls,
        security: ListenerSecurity,
        clock: Clock,
        events: EventLog,
        to_loop: Callable[[Callable[[], None]], None],
    ) -> KeySets:
        def milliseconds(name: str) -> int:
            return cast(int, security.value(f"{_ENDPOINT}{name}.ms"))

        url = cast("str | None", security.value(f"{_ENDPOINT}url"))
        backoff_ms = milliseconds("retry.backoff"), milliseconds("retry.backoff.max")
        return cls(url or "", milliseconds("refresh"), backoff_ms, clock, events, to_loop)

    def find(self, key_id: str | None) -> Pending[Key]:
        """None: the issuer has no such key, or its keys cannot be fetched."""
        known = self._known(key_id)
        now_ms = self._clock.monotonic_ms()
        due = now_ms >= self._retry_at_ms and (known is None or now_ms >= self._stale_at_ms)
        if due and not self._fetching:
            self._fetch()
        if known is not None or not self._fetching:
            return resolved(known)
        pending: Pending[Key] = Pending()
        self._waiting.append((key_id, pending))
        return pending

    def _known(self, key_id: str | None) -> Key:
        """A token without a key id is verified with the only key."""
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(key_id)

    def _fetch(self) -> None:
        self._fetching = True
        Thread(target=self._read_keys, name="ottla-jwks", daemon=True).start()

    def _read_keys(self) -> None:
        keys, failure = None, None
        try:
            found = jwt.PyJWKSet.from_json(self._read(self._url).decode())
            keys = {key.key_id: key for key in found.keys if key.public_key_use in (None, "sig")}
        except Exception as error:  # PyJWT raises any for sets that are none
            failure = error
        try:
            self._to_loop(partial(self._fetched, keys, failure))
        except RuntimeError:  # the loop is closed
            return

    def _fetched(self, keys: dict[str | None, jwt.PyJWK] | None, failure: Exception | None) -> None:
        self._fetching = False
        now_ms = self._clock.monotonic_ms()
        shortest_ms, longest_ms = self._backoff_ms
        if keys is not None:
            self._keys, self._failures = keys, 0
            self._stale_at_ms, self._retry_at_ms = now_ms + self._refresh_ms, now_ms + longest_ms
        else:
            wait_ms = min(shortest_ms << min(self._failures, 20), longest_ms)
            self._failures += 1
            self._retry_at_ms = now_ms + wait_ms
            if self._failures == 1:
                url = without_password(self._url)
                self._events.warning("token_keys_unavailable", url=url, error=failure)
        waiting, self._waiting = self._waiting, []
        for key_id, pending in waiting:
            pending.resolve(self._known(key_id))
