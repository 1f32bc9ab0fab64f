"""Whether TLS is spoken at an address, by whomever and with whichever certificate."""

from __future__ import annotations

import socket
import ssl

from interfaces.terminal.addresses import Address


def speaks_tls(address: Address, timeout_s: float) -> bool:
    anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anybody.check_hostname = False
    anybody.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection(address, timeout_s) as plain,
            anybody.wrap_socket(plain),
        ):
            return True
    except ssl.SSLError as failure:
        # It understood enough to refuse us: it wants a certificate, or another version.
        return "ALERT" in (failure.reason or "")
    except (OSError, ValueError):
        return False
