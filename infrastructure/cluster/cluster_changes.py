"""Changes of the cluster while this broker is the whole cluster."""

from __future__ import annotations

from collections.abc import Callable


class OwnChanges:
    """No other broker has anything to change."""

    __slots__ = ("losses",)
    first_epoch = 0

    def __init__(self, losses: int) -> None:
        self.losses = losses

    def check(self) -> None:
        pass

    def on_promoted(self, call: Callable[[], None]) -> None:
        pass
