"""The page of the REST API, in a browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.admin.console.conftest import MakeConsole
from tests.e2e.broker_process import BrokerProcess


def test_requests_are_described_filled_in_and_sent(
    make_console: MakeConsole, shop: BrokerProcess
) -> None:
    console = make_console(shop, shared=True)
    page = console.page
    page.goto(console.home)
    page.get_by_role("link", name="REST API").click()
    console.settled()
    expect(page.get_by_role("navigation").get_by_role("link")).to_contain_text(["topics"])

    def operation(method: str, path: str) -> None:
        summary = page.locator("summary").filter(has=page.get_by_text(path, exact=True))
        summary.filter(has_text=re.compile(f"^{method}")).click()

    operation("POST", "/topics")
    create = page.locator("details[open]").first
    expect(create.get_by_label("Body")).to_have_value(re.compile('"name": "payments"'))
    expect(create.get_by_label("curl")).to_contain_text(f"curl -X POST '{console.home}topics'")
    create.get_by_label("Body").fill('{"name": "planned", "validate_only": true}')
    expect(create.get_by_label("curl")).to_contain_text("validate_only")
    create.get_by_role("button", name="Send").click()
    expect(create.get_by_label("Response")).to_contain_text(
        re.compile("HTTP 200.*planned", re.DOTALL)
    )
    create.get_by_text("Fields of the body").click()
    expect(create.get_by_role("row").filter(has_text="partitions_count")).to_contain_text("integer")
    create.locator("summary").first.click()

    operation("GET", "/topics/{topic_name}/records:tail")
    tail = page.locator("details[open]").first
    tail.get_by_label("topic_name").fill("orders")
    tail.get_by_role("button", name="Send").click()
    expect(tail.get_by_label("Response")).to_contain_text("HTTP 200")
    tail.get_by_role("button", name="Stop").click()
    expect(tail.get_by_label("Response")).to_contain_text("(stopped)")
