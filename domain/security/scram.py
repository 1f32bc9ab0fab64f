"""SCRAM credentials (RFC 5802): what the broker persists of a password, and how it is verified.

The client salts the password (KIP-554), so the broker never learns it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from enum import Enum
from hmac import compare_digest, digest

#: Kafka's limits for both mechanisms.
MIN_ITERATIONS, MAX_ITERATIONS = 4096, 16384


class ScramMechanism(Enum):
    """With Kafka's codes."""

    SHA_256 = 1
    SHA_512 = 2

    @property
    def sasl_name(self) -> str:
        return f"SCRAM-SHA-{self.bits}"

    @property
    def bits(self) -> int:
        return 256 if self is ScramMechanism.SHA_256 else 512

    @property
    def hash_name(self) -> str:
        """As `hashlib` and `hmac` spell it."""
        return f"sha{self.bits}"

    def hmac(self, key: bytes, message: bytes) -> bytes:
        return digest(key, message, self.hash_name)

    def hash(self, data: bytes) -> bytes:
        return hashlib.new(self.hash_name, data).digest()

    def stored_key(self, salted_password: bytes) -> bytes:
        return self.hash(self.hmac(salted_password, b"Client Key"))

    def server_key(self, salted_password: bytes) -> bytes:
        return self.hmac(salted_password, b"Server Key")


MECHANISMS: Mapping[str, ScramMechanism] = {one.sasl_name: one for one in ScramMechanism}


class ScramCredential:
    """One user's credential of one mechanism; no repr shows it."""

    __slots__ = ("iterations", "mechanism", "salt", "server_key", "stored_key")

    def __init__(
        self,
        mechanism: ScramMechanism,
        iterations: int,
        salt: bytes,
        stored_key: bytes,
        server_key: bytes,
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.stored_key = stored_key
        self.server_key = server_key

    @classmethod
    def of_salted_password(
        cls, mechanism: ScramMechanism, iterations: int, salt: bytes, salted_password: bytes
    ) -> ScramCredential:
        return cls(
            mechanism,
            iterations,
            salt,
            mechanism.stored_key(salted_password),
            mechanism.server_key(salted_password),
        )

    def matches(self, salted_password: bytes) -> bool:
        return compare_digest(self.mechanism.stored_key(salted_password), self.stored_key)

    def proves(self, auth_message: bytes, proof: bytes) -> bool:
        """Whether the client that sent the proof knows the password."""
        mechanism = self.mechanism
        signature = mechanism.hmac(self.stored_key, auth_message)
        if len(proof) != len(signature):
            return False
        client_key = bytes(a ^ b for a, b in zip(proof, signature, strict=True))
        return compare_digest(mechanism.hash(client_key), self.stored_key)

    def server_signature(self, auth_message: bytes) -> bytes:
        return self.mechanism.hmac(self.server_key, auth_message)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScramCredential) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ScramCredential({self.mechanism.sasl_name}, iterations={self.iterations})"


#: All credentials of one user.
Credentials = Mapping[ScramMechanism, ScramCredential]


class Decoys:
    """Credentials for unknown users, so that they look like known ones.

    A client gets the same salt for the same name each time, as for a known user; no proof matches.
    """

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        """`secret`: of the store, so that salts stay the same after a restart."""
        self._secret = secret

    def credential(self, name: str, mechanism: ScramMechanism) -> ScramCredential:
        seed = mechanism.hmac(self._secret, name.encode())
        return ScramCredential(
            mechanism,
            MIN_ITERATIONS,
            seed[:16],
            mechanism.hmac(seed, b"stored"),
            mechanism.hmac(seed, b"server"),
        )
