"""Broken brokers: each of these has to be found out by the ledger."""

from __future__ import annotations

from collections.abc import Callable

FAULTS: dict[str, Callable[[], None]] = {}
