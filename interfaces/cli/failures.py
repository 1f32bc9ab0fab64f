"""Why a command ends early: one line on stderr."""

from __future__ import annotations


class CommandFailed(Exception):
    """Exit code 1."""


class UsageError(Exception):
    """A wrong option or argument: exit code 2."""
