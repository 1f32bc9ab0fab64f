from __future__ import annotations

import pytest

from interfaces.main.settings.listeners import check_origins, parse_unnamed


def test_the_admin_server_has_addresses_or_is_off() -> None:
    assert parse_unnamed(["off"]) == parse_unnamed([]) == ()
    assert [(one.host, one.port) for one in parse_unnamed([":1", "[::]:2"])] == [("", 1), ("::", 2)]
    for wrong in ("HTTP://:1", "8082", "host", "off,:1"):
        with pytest.raises(ValueError, match=r"."):
            parse_unnamed(wrong.split(","))


def test_an_origin_is_written_as_browsers_send_it() -> None:
    check_origins(["http://localhost:3000", "https://[::1]", "null", "*"])
    for wrong in ("localhost:3000", "http://localhost:3000/", "http://Example.org", "https://"):
        with pytest.raises(ValueError, match="origins as http://localhost:3000"):
            check_origins([wrong])
