"""Errors of elections, reassignments and registrations: a branch of the tree of domain/errors.py.

BrokerError
  ElectionNotNeeded  PreferredLeaderNotAvailable  NoReassignmentInProgress
  BrokerIdNotRegistered

Error codes are in `interfaces/kafka/requests/error_codes.py` only.
"""

from __future__ import annotations

from domain.errors import BrokerError


class ElectionNotNeeded(BrokerError):
    pass


class PreferredLeaderNotAvailable(BrokerError):
    pass


class NoReassignmentInProgress(BrokerError):
    pass


class BrokerIdNotRegistered(BrokerError):
    pass
