"""Why a command ends: each is one line for the person at the keyboard."""

from __future__ import annotations


class CommandFailed(Exception):
    """It was understood, and could not be done: exit code 1."""


class NotUnderstood(Exception):
    """It was said wrongly: exit code 2, as for an option that there is not."""
