from __future__ import annotations

import socket
from pathlib import Path

import pytest

from interfaces.main.notify import notify


@pytest.mark.parametrize("abstract", [False, True])
def test_the_service_manager_is_notified(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abstract: bool
) -> None:
    address = f"@ottla-{tmp_path.name}-{tmp_path.parent.name}" if abstract else f"{tmp_path}/n"
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(address.replace("@", "\0", 1))
        manager.settimeout(10)
        notify("READY=1")
        assert manager.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", [None, "", "vsock:1:2", "/nowhere/at/all"])
def test_without_a_service_manager_nothing_happens(
    address: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if address is None:
        monkeypatch.delenv("NOTIFY_SOCKET", raising=False)
    else:
        monkeypatch.setenv("NOTIFY_SOCKET", address)
    notify("READY=1")
