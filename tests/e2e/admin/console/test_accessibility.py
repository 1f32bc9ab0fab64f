"""axe-core finds no serious accessibility fault in any view."""

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
        # Evaluated from outside the page, whose policy allows no other scripts.
        page.evaluate(axe)
    found: list[dict[str, Any]] = page.evaluate(
        "(rules) => axe.run({resultTypes: ['violations'], ...rules})"
        ".then((result) => result.violations)",
        rules or {},
    )
    return [
        f"{rule['id']}: {node['html'][:120]} {node['failureSummary'][:200]}"
        for rule in found
        if rule["impact"] in SERIOUS
        for node in rule["nodes"][:3]
    ]


def check_views(console: Console, axe: str, rules: dict[str, Any] | None = None) -> None:
    found = {place: faults(console.open(place), axe, rules) for place in VIEWS}
    assert {place: some for place, some in found.items() if some} == {}


def test_views_have_no_serious_fault(console: Console, axe: str) -> None:
    check_views(console, axe)


@pytest.mark.long
def test_the_page_of_the_rest_api_has_no_serious_fault(
    make_console: MakeConsole, shop: BrokerProcess, axe: str
) -> None:
    console = make_console(shop)
    console.page.goto(f"{console.home}docs")
    console.settled()
    for path in ("/topics", "/topics/{topic_name}/records"):
        console.page.locator("summary", has_text=path).first.click()
    assert faults(console.page, axe) == []


@pytest.mark.long
def test_views_have_no_serious_fault_in_the_dark_or_on_a_phone(
    make_console: MakeConsole, shop: BrokerProcess, axe: str
) -> None:
    # Only the colours differ, or only the layout.
    check_views(make_console(shop, color_scheme="dark"), axe, {"runOnly": [CONTRAST]})
    check_views(make_console(shop, **PHONE), axe, {"rules": {CONTRAST: {"enabled": False}}})


@pytest.mark.long
def test_dialogs_and_details_have_no_serious_fault(console: Console, axe: str) -> None:
    page = console.open("#/topics/shipments?from=oldest", "shipments")
    for row in page.locator("tr.pressable").all()[:6]:
        row.click()
    assert faults(page, axe) == []
    console.open("#/topics/orders?where=json&field=paid&text=true", "orders")
    page.locator("tr.pressable").first.click()
    assert faults(page, axe) == []
    for name in ("Copy as", "Columns"):
        page.get_by_role("button", name=name).click()
        assert faults(page, axe) == []
        page.keyboard.press("Escape")
    console.open("#/topics/orders/produce?replay=0:0", "orders")
    page.get_by_role("button", name="Add a header").click()
    assert faults(page, axe) == []
    console.open("#/requests?api=CreateTopics", "Requests")
    page.locator("tr[data-row] button").first.click()
    assert faults(page, axe) == []
    console.open("#/topics/orders/configs", "orders")
    for name in ("Change configs", "Clone", "Delete records"):
        page.get_by_role("button", name=name).click()
        assert faults(page, axe) == []
        page.keyboard.press("Escape")
    console.open("#/groups/billing", "billing")
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
