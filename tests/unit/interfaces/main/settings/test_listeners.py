from __future__ import annotations

import pytest

from interfaces.main.settings.listeners import parse_admin


def test_the_admin_side_listens_at_addresses_or_nowhere() -> None:
    assert parse_admin(["off"]) == parse_admin([]) == ()
    assert [(one.host, one.port) for one in parse_admin([":1", "[::]:2"])] == [("", 1), ("::", 2)]
    for wrong in ("HTTP://:1", "8082", "host", "off,:1"):
        with pytest.raises(ValueError, match=r"."):
            parse_admin(wrong.split(","))
