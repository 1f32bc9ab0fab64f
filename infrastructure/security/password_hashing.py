"""Salting of passwords (PBKDF2) in a thread: 4,096 iterations take a millisecond or two.

hashlib releases the interpreter meanwhile, so the loop goes on. One thread: each connection has one
password to verify at most, and logins must not take the machine from requests.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from threading import Thread

from application.ports.pending import Pending, resolved
from domain.security.scram import MIN_ITERATIONS, Credentials, ScramCredential, ScramMechanism

_SALT_BYTES = 32


def is_password_of_any(password: str, credentials: Sequence[ScramCredential]) -> bool:
    """Computes all of them, also after a match."""
    matches = [_is_password_of(password, one) for one in credentials]
    return any(matches)


def _is_password_of(password: str, credential: ScramCredential) -> bool:
    return credential.matches(
        _salted(credential.mechanism, password, credential.salt, credential.iterations)
    )


def credentials_of(password: str, iterations: int = MIN_ITERATIONS) -> Credentials:
    """Of every mechanism, with new salts."""
    found = {}
    for mechanism in ScramMechanism:
        salt = secrets.token_bytes(_SALT_BYTES)
        salted = _salted(mechanism, password, salt, iterations)
        found[mechanism] = ScramCredential.of_salted_password(mechanism, iterations, salt, salted)
    return found


def _salted(mechanism: ScramMechanism, password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(mechanism.hash_name, password.encode(), salt, iterations)


class InlineHashing:
    """On the loop, for tests without threads."""

    def verify(self, password: str, credentials: Sequence[ScramCredential]) -> Pending[bool]:
        return resolved(is_password_of_any(password, credentials))


class ThreadedHashing:
    """Implements application.ports.password_hashing.PasswordHashing."""

    def __init__(self, to_loop: Callable[[Callable[[], None]], None]) -> None:
        self._to_loop = to_loop
        self._jobs: SimpleQueue[Callable[[], Callable[[], None]]] = SimpleQueue()
        self._thread: Thread | None = None

    def verify(self, password: str, credentials: Sequence[ScramCredential]) -> Pending[bool]:
        pending: Pending[bool] = Pending()
        self._jobs.put(partial(_verified, pending, password, credentials))
        if self._thread is None:
            self._thread = Thread(target=self._run, name="ottla-passwords", daemon=True)
            self._thread.start()
        return pending

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            try:
                self._to_loop(job())
            except RuntimeError:  # the loop is closed
                return


def _verified(
    pending: Pending[bool], password: str, credentials: Sequence[ScramCredential]
) -> Callable[[], None]:
    try:
        verified = is_password_of_any(password, credentials)
    except Exception as fault:
        return partial(pending.fail, fault)
    return partial(pending.resolve, verified)
