from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.terminal.tls import tls_context


def test_authorities_may_be_those_of_the_system_or_in_a_folder(tmp_path: Path) -> None:
    for location in ("probe", str(tmp_path)):
        assert tls_context({"ssl.ca.location": location}).check_hostname
    with pytest.raises(OSError, match="No such file"):
        tls_context({"ssl.ca.location": str(tmp_path / "none")})
