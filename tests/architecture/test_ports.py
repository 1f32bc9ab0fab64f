from __future__ import annotations

import pytest

from tests.architecture.repository import ROOT

#: Values and tables, not ports.
VALUES = {
    *(
        "__init__.py",
        "event.py",
        "events.py",
        "connection_events.py",
        "security_events.py",
        "storage_events.py",
    ),
    "pending.py",
}
PORTS = sorted(
    path.name for path in (ROOT / "application/ports").glob("*.py") if path.name not in VALUES
)


@pytest.mark.parametrize("port", PORTS)
def test_a_port_and_its_adapters_share_a_file_name(port: str) -> None:
    assert list((ROOT / "infrastructure").rglob(port)), f"nothing implements {port}"
