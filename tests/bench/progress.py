"""A progress line on stderr, with the seconds since the start."""

from __future__ import annotations

import sys
import time

_STARTED = time.monotonic()


def say(text: str) -> None:
    print(f"{time.monotonic() - _STARTED:5.0f} s  {text}", file=sys.stderr, flush=True)
