"""Departure: why a member is one no more."""

from __future__ import annotations

from enum import Enum


class Departure(Enum):
    LEFT = "left"
    SILENT = "was silent"
    DID_NOT_REJOIN = "did not join again"
    DID_NOT_SYNC = "did not ask for its assignment"
    DID_NOT_REVOKE = "did not give partitions up"
