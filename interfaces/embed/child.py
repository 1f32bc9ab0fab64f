"""The child process: runs the broker, and ends it when the parent says so or has exited."""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading
import time

#: How long a broker may drain after its parent has exited.
GRACE_S = 10.0


def main() -> None:
    threading.Thread(target=_end_with_parent, name="ottla-parent", daemon=True).start()
    module = sys.argv.pop(1)
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def _end_with_parent() -> None:
    # The file descriptor itself: a daemon thread inside sys.stdin holds a lock at shutdown.
    os.read(0, 1)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_S)
    os._exit(1)
