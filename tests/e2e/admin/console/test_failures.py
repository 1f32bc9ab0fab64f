"""Failures are shown with the correlation id of the broker's log; empty views say so."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import Console, MakeConsole, console_broker
from tests.e2e.broker_process import BrokerProcess

#: One of each kind: a view that polls, a form, one that reads once, and one with a query.
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
def test_each_view_shows_why_it_has_no_data_and_tries_again(
    console: Console, views: list[tuple[str, str]]
) -> None:
    for place, path in views:
        console.refuse(path)
        page = console.open(place)
        alert = page.get_by_role("alert").first
        expect(alert).to_contain_text("not now")
        expect(alert).to_contain_text("refused-1")
        page.unroute(path)
        # Views that poll may be back before the button is pressed.
        page.evaluate("document.querySelector('main [role=alert] button.button')?.click()")
        expect(page.locator("main").get_by_text("not now")).to_have_count(0)
        console.settled()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_a_table_stays_while_a_later_response_fails(own_context: Console) -> None:
    own_context.page.clock.install()
    page = own_context.open("#/groups", "Groups")
    own_context.refuse("**/console/data/groups")
    page.clock.run_for(3000)
    expect(page.get_by_role("alert")).to_contain_text("not now")
    expect(page.get_by_role("link", name="billing")).to_be_visible()
    page.unroute("**/console/data/groups")
    page.clock.run_for(3000)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_refusal_has_the_correlation_id_of_the_log(console: Console) -> None:
    broker = console.broker
    page = console.open("#/topics/not-there")
    shown = page.locator(".correlation code").inner_text()
    assert shown.startswith("console-")
    assert f'"correlation_id":"{shown}"' in broker.log_line(shown)


@pytest.mark.long
def test_a_stopped_broker_is_shown_and_found_again_when_it_is_back(
    make_console: MakeConsole, own_console: Callable[..., BrokerProcess]
) -> None:
    broker = own_console()
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


def test_figures_are_grey_while_the_broker_is_away(own_context: Console) -> None:
    own_context.page.clock.install(time="2026-01-31T20:34:28Z")
    page = own_context.open("#/groups", "Groups")
    page.context.set_offline(True)
    page.clock.run_for(2000)
    expect(page.get_by_role("alert")).to_have_text(
        re.compile(r"has not been reachable since 20:34:3\d \(UTC\+00:00\)")
    )
    assert opacity(page) < 1
    page.context.set_offline(False)
    page.clock.run_for(2000)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert opacity(page) == 1


def opacity(page: Page) -> float:
    return float(page.locator("table").evaluate("(table) => getComputedStyle(table).opacity"))


def test_a_view_opened_while_the_broker_is_away_is_drawn_when_it_is_back(
    own_context: Console,
) -> None:
    own_context.page.clock.install()
    page = own_context.open("#/topics/orders", "orders")
    page.context.set_offline(True)
    page.get_by_role("link", name="Partitions").click()
    expect(page.locator("main .trouble")).to_be_visible()
    page.get_by_role("link", name="Connections").click()
    expect(page.locator("main .trouble")).to_be_visible()
    page.clock.run_for(2000)
    expect(page.get_by_role("alert").first).to_contain_text("The broker has not been reachable")
    page.context.set_offline(False)
    page.clock.run_for(2000)
    expect(page.get_by_role("heading", name="Connections", level=1)).to_be_visible()
    page.get_by_role("link", name="Topics").click()
    page.get_by_role("link", name="orders", exact=True).click()
    page.get_by_role("link", name="Partitions").click()
    expect(page.get_by_role("columnheader", name="First offset")).to_be_visible()


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    with console_broker(tmp_path_factory.mktemp("empty")) as broker:
        yield broker


@pytest.mark.long
def test_an_empty_broker_has_texts_in_place_of_tables(
    make_console: MakeConsole, empty: BrokerProcess
) -> None:
    console = make_console(empty)
    for place in ("#/", "#/topics", "#/groups", "#/requests", "#/connections"):
        page = console.open(place)
        expect(page.locator("main .empty")).to_have_count(1)


@pytest.mark.long
def test_a_chart_without_data_says_so(make_console: MakeConsole, empty: BrokerProcess) -> None:
    console = make_console(empty)
    console.page.clock.install()
    page = console.open("#/", "Overview")
    charts = page.locator("figure.chart")
    expect(charts.get_by_text("no data yet")).to_have_count(4)
    for _ in range(2):
        with page.expect_response("**/console/data/overview"):
            page.clock.run_for(2000)
    # Rates of zero are data; without requests there is no latency.
    expect(charts.get_by_text("no data yet")).to_have_count(1)
    latency = page.locator("figure.chart", has_text="Produce latency")
    expect(latency).to_contain_text("no data yet")
