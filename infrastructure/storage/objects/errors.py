"""Why an object cannot be written, read or deleted: one line without secrets."""

from __future__ import annotations


class ObjectsFailed(Exception):
    """The bucket cannot be reached, refuses, or is too slow: the next try may succeed."""


class ObjectDamaged(Exception):
    """The object is not what was written."""


class ObjectMissing(ObjectDamaged):
    """The bucket has no such object."""
