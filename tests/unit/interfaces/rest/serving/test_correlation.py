from __future__ import annotations

import pytest

from interfaces.rest.serving.correlation import correlation_id_of


def test_the_id_of_the_client_is_used() -> None:
    assert correlation_id_of("order 17/a") == "order 17/a"
    assert correlation_id_of("x" * 128) == "x" * 128


@pytest.mark.parametrize("sent", [None, "", "x" * 129, "two\nlines", "käse", "a\x7f"])
def test_an_id_that_does_not_fit_in_a_log_line_is_replaced(sent: str | None) -> None:
    made = correlation_id_of(sent)
    assert made != sent and made.isalnum()
    assert made != correlation_id_of(sent)
