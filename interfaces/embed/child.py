"""The broker's side of its parent: stdin is a pipe, which ends with the parent."""

from __future__ import annotations

import os
import signal
import threading
import time

#: Set before the signal that this module sends to its own process.
stdin_ended = threading.Event()
#: How long a broker may drain after its parent has exited.
GRACE_S = 10.0


def exit_with_stdin() -> None:
    """Stops this process at the first byte on stdin, or at its end."""
    threading.Thread(target=_exit_with_stdin, name="ottla-parent", daemon=True).start()


def _exit_with_stdin() -> None:
    # The file descriptor itself: a daemon thread inside sys.stdin holds a lock at shutdown.
    os.read(0, 1)
    stdin_ended.set()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os._exit(1)
