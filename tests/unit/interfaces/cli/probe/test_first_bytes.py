from __future__ import annotations

import pytest

from interfaces.cli.probe.first_bytes import HTTP, TLS, speaker


@pytest.mark.parametrize(
    "received, who",
    [
        (b"HTTP/1.1 400 Bad Request\r\n", HTTP),
        (b"<!doctype html>", HTTP),
        (b"\x15\x03\x03\x00\x02\x02\x46", TLS),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "an SSH server"),
        (b"220 mail.example.org ESMTP", "a mail or FTP server"),
        (b"-ERR unknown command", "Redis"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\nThis port serves the Kafka protocol, not HTTP.", None),
        (b"J\x00\x00\x00\x0a8.0.36\x00", "MySQL"),
        (b"E\x00\x00\x00\x50SFATAL\x00VFATAL\x00", "PostgreSQL"),
        (b"\x00\x00\x00\x10\x00\x00\x00\x01", None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell_who_speaks(received: bytes, who: str | None) -> None:
    assert speaker(received) == who
