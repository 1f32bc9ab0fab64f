"""Errors of elections, reassignments and registrations: a branch of the tree of domain/errors.py.

BrokerError
  ElectionNotNeeded  PreferredLeaderNotAvailable  NoReassignmentInProgress
  BrokerIdNotRegistered

Not in domain/cluster/, which domain/errors.py imports. Error codes are in
`interfaces/kafka/requests/error_codes.py` only.
"""

from __future__ import annotations

from domain.errors import BrokerError


class ElectionNotNeeded(BrokerError):
    def __init__(self) -> None:
        super().__init__("Leader election not needed for topic partition.")


class PreferredLeaderNotAvailable(BrokerError):
    pass


class NoReassignmentInProgress(BrokerError):
    pass


class BrokerIdNotRegistered(BrokerError):
    pass
