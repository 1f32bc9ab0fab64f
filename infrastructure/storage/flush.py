"""Flush: when acknowledged data is fsynced (docs/storage.md)."""

from __future__ import annotations

from typing import Literal

Flush = Literal["commit", "interval", "os"]
