"""ClusterChanges: the right to change what all brokers share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class ClusterChanges(Protocol):
    """Of topics, configs, users, ACLs, quotas, features, producer ids and leaders.

    One broker at a time has the right. It knows all changes of the others by then, and stages its
    own; the right ends with the commit that has them.
    """

    def check(self) -> None:
        """Raises NotInMemory while this broker has to wait for the right: repeat the call then.

        To be called first, before any effect, and once: another broker that waits may get the right
        after it. What is staged then is staged in the same call.
        """
        ...

    @property
    def first_epoch(self) -> int:
        """New leader epochs are not lower: the store may have lost changes of leaders which had
        lower ones. After `check`.
        """
        ...

    @property
    def losses(self) -> int:
        """How often the store may have lost what was committed. After `check`."""
        ...

    def on_promoted(self, call: Callable[[], None]) -> None:
        """Calls back when the store may have lost changes of leaders: `first_epoch` is higher."""
        ...
