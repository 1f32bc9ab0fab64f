"""Salting of passwords (PBKDF2) in a thread: 4,096 iterations take a millisecond or two.

hashlib releases the interpreter meanwhile, so the loop goes on. One thread: logins must not take
the machine from requests. Anybody can send passwords, so those that wait are bounded, addresses
take turns, and a password whose client has gone is not verified.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from threading import Thread
from typing import Any, NamedTuple

from application.ports.password_hashing import PasswordClient
from application.ports.pending import Pending, resolved
from domain.security.scram import MIN_ITERATIONS, Credentials, ScramCredential, ScramMechanism

_SALT_BYTES = 32
#: The last of them waits for some 13 s: less than `connection.authentication.timeout.ms`.
MAX_WAITING = 4000
#: Clients behind one address may all reconnect at once, and Java's give up when they are refused.
MAX_WAITING_OF_ADDRESS = 500


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

    def verify(
        self, password: str, credentials: Sequence[ScramCredential], client: PasswordClient
    ) -> Pending[bool | None]:
        return resolved(is_password_of_any(password, credentials))

    def salted(
        self, mechanism: ScramMechanism, password: str, iterations: int
    ) -> Pending[tuple[bytes, bytes]]:
        return resolved(_newly_salted(mechanism, password, iterations))


class _LoggedIn(NamedTuple):
    """A client that sets a password: it may."""

    address: str = ""
    closing: bool = False


class _Job(NamedTuple):
    pending: Pending[Any]
    compute: Callable[[], object]
    client: PasswordClient


class ThreadedHashing:
    """Implements application.ports.password_hashing.PasswordHashing."""

    def __init__(self, to_loop: Callable[[Callable[[], None]], None]) -> None:
        self._to_loop = to_loop
        #: For the thread, one at a time.
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._computing = False
        #: By address; each has at least one.
        self._waiting: OrderedDict[str, deque[_Job]] = OrderedDict()
        self.waiting = 0
        self._thread: Thread | None = None

    def verify(
        self, password: str, credentials: Sequence[ScramCredential], client: PasswordClient
    ) -> Pending[bool | None]:
        of_address = len(self._waiting.get(client.address, ()))
        if self.waiting >= MAX_WAITING or of_address >= MAX_WAITING_OF_ADDRESS:
            return resolved(None)
        return self._begin(partial(is_password_of_any, password, credentials), client)

    def salted(
        self, mechanism: ScramMechanism, password: str, iterations: int
    ) -> Pending[tuple[bytes, bytes]]:
        return self._begin(partial(_newly_salted, mechanism, password, iterations), _LoggedIn())

    def _begin(self, compute: Callable[[], object], client: PasswordClient) -> Pending[Any]:
        job = _Job(Pending(), compute, client)
        self._waiting.setdefault(client.address, deque()).append(job)
        self.waiting += 1
        if not self._computing:
            self._compute_next()
        if self._thread is None:
            self._thread = Thread(target=self._run, name="ottla-passwords", daemon=True)
            self._thread.start()
        return job.pending

    def _compute_next(self) -> None:
        self._computing = True
        while self._waiting:
            job = self._next_waiting()
            if not job.client.closing:
                self._jobs.put(job)
                return
            job.pending.resolve(None)
        self._computing = False

    def _next_waiting(self) -> _Job:
        """Of the address whose turn is longest ago."""
        address, jobs = self._waiting.popitem(last=False)
        self.waiting -= 1
        job = jobs.popleft()
        if jobs:
            self._waiting[address] = jobs
        return job

    def _run(self) -> None:
        while True:
            # Without a name for the job: it would stay in memory, with the password.
            complete = _completion(self._jobs.get())
            try:
                self._to_loop(partial(self._computed, complete))
            except RuntimeError:  # the loop is closed
                return

    def _computed(self, complete: Callable[[], None]) -> None:
        self._compute_next()
        complete()


def _completion(job: _Job) -> Callable[[], None]:
    try:
        value = job.compute()
    except Exception as fault:
        return partial(job.pending.fail, fault)
    return partial(job.pending.resolve, value)
