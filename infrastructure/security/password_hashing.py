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
from typing import TypeVar

from application.ports.pending import Pending, resolved
from domain.security.scram import MIN_ITERATIONS, Credentials, ScramCredential, ScramMechanism

_SALT_BYTES = 32

R = TypeVar("R")


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
        salted = _newly_salted(mechanism, password, iterations)
        found[mechanism] = ScramCredential.of_salted_password(mechanism, iterations, *salted)
    return found


def _newly_salted(mechanism: ScramMechanism, password: str, iterations: int) -> tuple[bytes, bytes]:
    salt = secrets.token_bytes(_SALT_BYTES)
    return salt, _salted(mechanism, password, salt, iterations)


def _salted(mechanism: ScramMechanism, password: str, salt: bytes, iterations: int) -> bytes:
    return hashlib.pbkdf2_hmac(mechanism.hash_name, password.encode(), salt, iterations)


class InlineHashing:
    """On the loop, for tests without threads."""

    def verify(self, password: str, credentials: Sequence[ScramCredential]) -> Pending[bool]:
        return resolved(is_password_of_any(password, credentials))

    def salted(
        self, mechanism: ScramMechanism, password: str, iterations: int
    ) -> Pending[tuple[bytes, bytes]]:
        return resolved(_newly_salted(mechanism, password, iterations))


class ThreadedHashing:
    """Implements application.ports.password_hashing.PasswordHashing."""

    def __init__(self, to_loop: Callable[[Callable[[], None]], None]) -> None:
        self._to_loop = to_loop
        self._jobs: SimpleQueue[Callable[[], Callable[[], None]]] = SimpleQueue()
        self._thread: Thread | None = None

    def verify(self, password: str, credentials: Sequence[ScramCredential]) -> Pending[bool]:
        return self._begin(partial(is_password_of_any, password, credentials))

    def salted(
        self, mechanism: ScramMechanism, password: str, iterations: int
    ) -> Pending[tuple[bytes, bytes]]:
        return self._begin(partial(_newly_salted, mechanism, password, iterations))

    def _begin(self, compute: Callable[[], R]) -> Pending[R]:
        pending: Pending[R] = Pending()
        self._jobs.put(partial(_computed, pending, compute))
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


def _computed(pending: Pending[R], compute: Callable[[], R]) -> Callable[[], None]:
    try:
        value = compute()
    except Exception as fault:
        return partial(pending.fail, fault)
    return partial(pending.resolve, value)
