"""systemd's sd_notify: one datagram to the socket of the service manager."""

from __future__ import annotations

import os
import socket


def notify(state: str) -> None:
    """READY=1 or STOPPING=1. Does nothing without a service manager."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.setblocking(False)
            manager.connect(address.replace("@", "\0", 1))
            manager.send(state.encode())
    except OSError:
        return
