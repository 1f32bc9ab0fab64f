"""`import ottla`: a broker for tests, notebooks and scripts, in a process of its own."""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
