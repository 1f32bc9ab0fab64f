"""An issuer of tokens for OAUTHBEARER: keys, their JSON Web Key Set, signed tokens."""

from __future__ import annotations

import json
import time
from functools import cached_property
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

ISSUER, AUDIENCE = "https://issuer.test", "kafka"


class Issuer:
    def __init__(self, key_id: str = "key-1", algorithm: str | None = None) -> None:
        """`algorithm`: that of the RSA key, in the set of keys."""
        self.key_id = key_id
        self._of_rsa = {} if algorithm is None else {"alg": algorithm}

    @cached_property
    def rsa(self) -> rsa.RSAPrivateKey:
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @cached_property
    def ec(self) -> ec.EllipticCurvePrivateKey:
        return ec.generate_private_key(ec.SECP256R1())

    def key_set(self) -> bytes:
        keys = [
            RSAAlgorithm.to_jwk(self.rsa.public_key(), as_dict=True)
            | {"kid": self.key_id, **self._of_rsa},
            ECAlgorithm.to_jwk(self.ec.public_key(), as_dict=True) | {"kid": f"{self.key_id}-ec"},
        ]
        return json.dumps({"keys": [one | {"use": "sig"} for one in keys]}).encode()

    def token(self, algorithm: str = "RS256", key_id: str | None = None, **claims: Any) -> str:
        """Claims that are None are left out."""
        is_ec = algorithm.startswith("ES")
        named = key_id or (f"{self.key_id}-ec" if is_ec else self.key_id)
        key = self.ec if is_ec else self.rsa
        return jwt.encode(claims_of(**claims), key, algorithm, headers={"kid": named})


def claims_of(**claims: Any) -> dict[str, Any]:
    now_s = int(time.time())
    default = {"sub": "ann", "iss": ISSUER, "aud": AUDIENCE, "iat": now_s, "exp": now_s + 600}
    return {name: value for name, value in (default | claims).items() if value is not None}


def unsecured(**claims: Any) -> str:
    return jwt.encode(claims_of(**claims), "", "none")
