from __future__ import annotations

import pytest

from domain.messages.json_condition import all_match, json_condition

ORDER = b"""{"total": 12.5, "paid": true, "customer": {"name": "Ann"}, "none": null,
 "items": [{"sku": "a-1"}, 7], "unit price": 3}"""


@pytest.mark.parametrize(
    "text",
    [
        "$.total > 10",
        "$.total>=12.5",
        "$.total < 13",
        "$.paid == true",
        "$.customer.name = Ann",
        '$.customer["name"] == "Ann"',
        "$.customer.name < B",
        "$.items[0].sku contains -1",
        "$.items contains 7",
        "$['unit price'] != 4",
        "$.none == null",
        "$.none",
        "$",
    ],
)
def test_a_condition_matches_a_field(text: str) -> None:
    assert all_match([json_condition(text)], ORDER)


@pytest.mark.parametrize(
    "text",
    [
        "$.total > 12.5",
        "$.total > Ann",
        "$.paid == 1",
        "$.customer > 1",
        "$.missing != 1",
        "$.total.deeper",
        "$.items[2]",
        "$.items.sku",
        "$.customer.name[0] == A[",
        "$.customer.name[0] == A",
        "$.customer.name[0]",
        "$.total contains 1",
    ],
)
def test_another_value_and_a_missing_field_do_not_match(text: str) -> None:
    assert not all_match([json_condition(text)], ORDER)


def test_all_conditions_have_to_match() -> None:
    both = [json_condition("$.total > 10"), json_condition("$.paid == false")]
    assert not all_match(both, ORDER)


@pytest.mark.parametrize("value", [None, b"", b"plain", b"\xff\xfe\x00", b"[" * 100_000])
def test_a_value_that_is_not_json_does_not_match(value: bytes | None) -> None:
    assert not all_match([json_condition("$")], value)


@pytest.mark.parametrize(
    "text", ["", "total > 10", "$.total >", "$.total like 1", "$total", "$.a b"]
)
def test_an_invalid_condition_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid condition"):
        json_condition(text)
