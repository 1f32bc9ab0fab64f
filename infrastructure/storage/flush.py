"""Flush: when what is acknowledged is fsynced. What survives what: docs/storage.md."""

from __future__ import annotations

from typing import Literal

Flush = Literal["commit", "interval", "os"]
