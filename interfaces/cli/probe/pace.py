"""Pace: the timeout of each step of the doctor, and the deadline of all steps."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

#: A timeout of 0 would make sockets non-blocking.
_LEAST_S = 0.01


class Pace(NamedTuple):
    step_s: float
    #: Of time.monotonic(); set for a command that waits for a response meanwhile.
    deadline: float = math.inf

    @property
    def timeout_s(self) -> float:
        """Of the next step."""
        return max(_LEAST_S, min(self.step_s, self.deadline - time.monotonic()))

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self.deadline
