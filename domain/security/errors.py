"""Errors of authentication, and of users, as a branch of the tree of domain/errors.py.

BrokerError
  UnsupportedSaslMechanism  IllegalSaslState  SaslAuthenticationFailed
  UnacceptableCredential

Error codes are in `interfaces/kafka/requests/error_codes.py` only.
"""

from __future__ import annotations

from domain.errors import BrokerError


class UnsupportedSaslMechanism(BrokerError):
    pass


class IllegalSaslState(BrokerError):
    """The connection is authenticated, or its listener has no SASL."""


class SaslAuthenticationFailed(BrokerError):
    pass


class UnacceptableCredential(BrokerError):
    pass
