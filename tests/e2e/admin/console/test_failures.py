"""Views without data: failed requests, an unreachable broker, an empty broker."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import ADMIN, Console, MakeConsole
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import StartBroker

#: One view of each kind: polled, a form, read once, and with a query.
VIEWS = [
    ("#/topics", "**/console/data/topics"),
    ("#/new-topic", "**/configs/topics"),
    ("#/topics/orders/configs", "**/topics/orders/configs"),
    ("#/topics/orders/produce?replay=0:0", "**/topics/orders/records?*"),
]
OTHER_VIEWS = [
    ("#/", "**/console/data/overview"),
    ("#/topics/orders", "**/topics/orders"),
    ("#/topics/orders/messages", "**/topics/orders/records?*"),
    ("#/topics/orders/partitions", "**/console/data/partitions?*"),
    ("#/topics/orders/consumers", "**/console/data/consumers?*"),
    ("#/groups", "**/console/data/groups"),
    ("#/groups/billing", "**/console/data/groups/billing"),
    ("#/requests", "**/requestz?*"),
    ("#/connections", "**/connz"),
    ("#/configs", "**/configs"),
]


@pytest.mark.parametrize("views", [VIEWS, pytest.param(OTHER_VIEWS, marks=pytest.mark.long)])
def test_each_view_shows_its_failed_request_and_retries(
    console: Console, views: list[tuple[str, str]]
) -> None:
    for place, path in views:
        console.refuse(path)
        page = console.open(place)
        alert = page.get_by_role("alert").first
        expect(alert).to_contain_text("not now")
        expect(alert).to_contain_text("refused-1")
        page.unroute(path)
        # Views that poll may have recovered already.
        page.evaluate("document.querySelector('main [role=alert] button.button')?.click()")
        expect(page.locator("main").get_by_text("not now")).to_have_count(0)
        console.settled()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_a_refused_request_is_shown_with_its_correlation_id(console: Console) -> None:
    broker = console.broker
    page = console.open("#/topics/not-there")
    shown = page.locator(".correlation code").inner_text()
    assert shown.startswith("console-")
    assert f'"correlation_id":"{shown}"' in broker.log_line(shown)


@pytest.mark.long
def test_the_console_recovers_after_a_restart_of_the_broker(
    make_console: MakeConsole, start_broker: StartBroker
) -> None:
    broker = start_broker(*ADMIN, engine="memory")
    console = make_console(broker)
    console.page.clock.install()
    page = console.open("#/topics", "Topics")
    broker.arguments[1] = f"{broker.admin.host}:{broker.admin.port}"
    broker.terminate()
    page.clock.run_for(5000)
    expect(page.locator(".pulse")).to_have_text("No response")
    expect(page.get_by_role("alert")).to_contain_text("has not been reachable since")
    broker.start()
    page.clock.run_for(5000)
    expect(page.locator(".pulse")).to_have_text("0 connections")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_views_stay_while_the_broker_is_away_and_recover(
    make_console: MakeConsole, shop: BrokerProcess
) -> None:
    console = make_console(shop)
    console.page.clock.install(time="2026-01-31T20:34:20Z")
    page = console.open("#/groups", "Groups")
    alert = page.get_by_role("alert")

    # One request fails: the table stays below the failure.
    console.refuse("**/console/data/groups")
    page.clock.run_for(3000)
    expect(alert).to_contain_text("not now")
    expect(page.get_by_role("link", name="billing")).to_be_visible()
    page.unroute("**/console/data/groups")
    page.clock.run_for(3000)
    expect(alert).to_have_count(0)

    # All requests fail: the figures are grey, below a line with the time.
    page.context.set_offline(True)
    page.clock.run_for(2000)
    expect(alert).to_have_text(
        re.compile(r"has not been reachable since 20:3\d:\d\d \(UTC\+00:00\)")
    )
    assert opacity(page) < 1
    page.context.set_offline(False)
    page.clock.run_for(2000)
    expect(alert).to_have_count(0)
    assert opacity(page) == 1

    # Views that were opened meanwhile are drawn when the broker is back.
    console.open("#/topics/orders", "orders")
    page.context.set_offline(True)
    page.get_by_role("link", name="Partitions").click()
    expect(page.locator("main .trouble")).to_be_visible()
    page.get_by_role("link", name="Connections").click()
    expect(page.locator("main .trouble")).to_be_visible()
    page.clock.run_for(2000)
    expect(alert.first).to_contain_text("has not been reachable since")
    page.context.set_offline(False)
    page.clock.run_for(2000)
    expect(page.get_by_role("heading", name="Connections", level=1)).to_be_visible()
    page.get_by_role("link", name="Topics").click()
    page.get_by_role("link", name="orders", exact=True).click()
    page.get_by_role("link", name="Partitions").click()
    expect(page.get_by_role("columnheader", name="Log start offset")).to_be_visible()


def opacity(page: Page) -> float:
    return float(page.locator("table").evaluate("(table) => getComputedStyle(table).opacity"))


@pytest.mark.long
def test_an_empty_broker_has_texts_in_place_of_tables_and_charts(
    make_console: MakeConsole, start_broker: StartBroker
) -> None:
    console = make_console(start_broker(*ADMIN, engine="memory"))
    console.page.clock.install()
    page = console.open("#/", "Overview")
    charts = page.locator("figure.chart")
    expect(charts.get_by_text("no data yet")).to_have_count(6)
    for _ in range(2):
        with page.expect_response("**/console/data/overview"):
            page.clock.run_for(2000)
    # Rates of zero are data; without requests there is no latency, without commits no time.
    expect(charts.get_by_text("no data yet")).to_have_count(2)
    latency = page.locator("figure.chart", has_text="Produce latency")
    expect(latency).to_contain_text("no data yet")
    for place in ("#/", "#/topics", "#/groups", "#/requests", "#/connections"):
        page = console.open(place)
        expect(page.locator("main .empty")).to_have_count(1)
