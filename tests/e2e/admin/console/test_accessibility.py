"""axe-core finds no serious fault of accessibility in any view."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.e2e.admin.console.conftest import Console, MakeConsole
from tests.e2e.admin.console.test_screens import PHONE, VIEWS
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.node_packages import AXE, installed

SERIOUS = ("serious", "critical")
CONTRAST = "color-contrast"


@pytest.fixture(scope="module")
def axe() -> str:
    return (installed(AXE) / "axe-core/axe.min.js").read_text("utf-8")


def faults(page: Page, axe: str, rules: dict[str, Any] | None = None) -> list[str]:
    if page.evaluate("window.axe === undefined"):
        # Evaluated from outside the page: its policy would let no foreign script in.
        page.evaluate(axe)
    found: list[dict[str, Any]] = page.evaluate(
        "(rules) => axe.run(rules).then((result) => result.violations)", rules or {}
    )
    return [
        f"{rule['id']}: {node['html'][:120]} {node['failureSummary'][:200]}"
        for rule in found
        if rule["impact"] in SERIOUS
        for node in rule["nodes"][:3]
    ]


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        pytest.param({"color_scheme": "light"}, {}, id="light"),
        # Only the colours differ,
        pytest.param(
            {"color_scheme": "dark"}, {"runOnly": [CONTRAST]}, id="dark", marks=pytest.mark.long
        ),
        # or only the layout.
        pytest.param(
            PHONE, {"rules": {CONTRAST: {"enabled": False}}}, id="phone", marks=pytest.mark.long
        ),
    ],
)
def test_views_have_no_serious_fault(
    make_console: MakeConsole,
    shop: BrokerProcess,
    axe: str,
    options: dict[str, Any],
    rules: dict[str, Any],
) -> None:
    console = make_console(shop, **options)
    found = {place: faults(console.open(place), axe, rules) for place in VIEWS}
    assert {place: some for place, some in found.items() if some} == {}


@pytest.mark.long
def test_dialogs_and_details_have_no_serious_fault(console: Console, axe: str) -> None:
    page = console.open("#/topics/shipments?from=oldest", "shipments")
    for row in page.locator("tr.pressable").all()[:6]:
        row.click()
    assert faults(page, axe) == []
    page = console.open("#/topics/orders/produce?replay=0:0", "orders")
    page.get_by_role("button", name="Add a header").click()
    assert faults(page, axe) == []
    page = console.open("#/requests?api=CreateTopics", "Requests")
    page.locator("tr[data-row] button").first.click()
    assert faults(page, axe) == []
    page = console.open("#/topics/orders/configs", "orders")
    page.get_by_role("button", name="Change configs").click()
    assert faults(page, axe) == []
    page.keyboard.press("Escape")
    for name in ("Clone", "Truncate"):
        page.get_by_role("button", name=name).click()
        assert faults(page, axe) == []
        page.keyboard.press("Escape")
    page = console.open("#/groups/billing", "billing")
    page.get_by_role("button", name="Reset offsets").click()
    page.get_by_role("dialog").get_by_role("button", name="Preview").click()
    page.get_by_role("dialog").locator("tbody tr").first.wait_for()
    assert faults(page, axe) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Delete").click()
    assert faults(page, axe) == []
    page.keyboard.press("Escape")
    console.refuse("**/console/data/groups")
    assert faults(console.open("#/groups"), axe) == []
