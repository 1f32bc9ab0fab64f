"""What cannot be had is said, with the id that the broker's log has; what is empty too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import Console, MakeConsole, console_broker
from tests.e2e.broker_process import BrokerProcess

VIEWS = [
    ("#/", "**/console/data/overview"),
    ("#/topics", "**/console/data/topics"),
    ("#/new-topic", "**/configs/topics"),
    ("#/topics/orders", "**/topics/orders"),
    ("#/topics/orders/messages", "**/topics/orders/records?*"),
    ("#/topics/orders/partitions", "**/console/data/partitions?*"),
    ("#/topics/orders/consumers", "**/console/data/consumers?*"),
    ("#/topics/orders/configs", "**/topics/orders/configs"),
    ("#/topics/orders/produce?replay=0:0", "**/topics/orders/records?*"),
    ("#/groups", "**/console/data/groups"),
    ("#/groups/billing", "**/console/data/groups/billing"),
    ("#/requests", "**/requestz?*"),
    ("#/connections", "**/connz"),
    ("#/configs", "**/configs"),
]


@pytest.mark.parametrize(("place", "path"), VIEWS)
def test_a_view_says_why_it_has_nothing_and_tries_again(
    console: Console, place: str, path: str
) -> None:
    console.refuse(path)
    page = console.open(place)
    alert = page.get_by_role("alert").first
    expect(alert).to_contain_text("not now")
    expect(alert).to_contain_text("refused-1")
    page.unroute(path)
    # At once, if it is there: views that ask again and again by themselves may be quicker.
    page.evaluate("document.querySelector('main [role=alert] button.button')?.click()")
    expect(page.locator("main").get_by_text("not now")).to_have_count(0)
    console.settled()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_what_is_shown_stays_while_a_later_answer_fails(console: Console) -> None:
    console.page.clock.install()
    page = console.open("#/groups", "Groups")
    console.refuse("**/console/data/groups")
    page.clock.run_for(3000)
    expect(page.get_by_role("alert")).to_contain_text("not now")
    expect(page.get_by_role("link", name="billing")).to_be_visible()
    page.unroute("**/console/data/groups")
    page.clock.run_for(3000)
    expect(page.get_by_role("alert")).to_have_count(0)


def test_what_the_broker_refuses_has_the_id_that_its_log_has(
    make_console: MakeConsole, own_console: Callable[..., BrokerProcess]
) -> None:
    broker = own_console("--log-requests", "errors")
    console = make_console(broker)
    page = console.open("#/topics/not-there")
    said = page.locator(".correlation code").inner_text()
    assert said.startswith("console-")
    assert f'"correlation_id":"{said}"' in broker.log_line(said)


def test_a_broker_that_is_gone_is_said_and_found_again(
    make_console: MakeConsole, own_console: Callable[..., BrokerProcess]
) -> None:
    broker = own_console()
    console = make_console(broker)
    console.page.clock.install()
    page = console.open("#/topics", "Topics")
    broker.arguments[1] = f"{broker.admin.host}:{broker.admin.port}"
    broker.terminate()
    page.clock.run_for(5000)
    expect(page.locator(".pulse")).to_have_text("No answer")
    expect(page.get_by_role("alert")).to_contain_text("broker is not reachable since")
    broker.start()
    page.clock.run_for(5000)
    expect(page.locator(".pulse")).to_have_text("0 connections")
    expect(page.get_by_role("alert")).to_have_count(0)


def test_figures_are_marked_as_old_while_the_broker_is_away(console: Console) -> None:
    console.page.clock.install(time="2026-01-31T20:34:28Z")
    page = console.open("#/groups", "Groups")
    page.context.set_offline(True)
    page.clock.run_for(2000)
    expect(page.get_by_role("alert")).to_have_text(
        re.compile(r"broker is not reachable since 20:34:3\d \(UTC\+00:00\)")
    )
    assert opacity(page) < 1
    page.context.set_offline(False)
    page.clock.run_for(2000)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert opacity(page) == 1


def opacity(page: Page) -> float:
    return float(page.locator("table").evaluate("(table) => getComputedStyle(table).opacity"))


def test_a_page_first_opened_while_the_broker_is_away_comes_when_it_is_back(
    console: Console,
) -> None:
    console.page.clock.install()
    page = console.open("#/topics/orders", "orders")
    page.context.set_offline(True)
    page.get_by_role("link", name="Partitions").click()
    expect(page.locator("main .trouble")).to_be_visible()
    page.get_by_role("link", name="Connections").click()
    expect(page.locator("main .trouble")).to_be_visible()
    page.clock.run_for(2000)
    expect(page.get_by_role("alert").first).to_contain_text("The broker is not reachable")
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


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("#/", "There are no groups yet"),
        ("#/topics", "There are no topics yet"),
        ("#/groups", "There are no groups yet"),
        ("#/requests", "No such request is remembered"),
        ("#/connections", "Nobody is connected"),
    ],
)
def test_an_empty_broker_says_what_will_be_there(
    make_console: MakeConsole, empty: BrokerProcess, place: str, words: str
) -> None:
    page = make_console(empty).open(place)
    expect(page.locator("main")).to_contain_text(words)


def test_a_chart_without_data_says_so(make_console: MakeConsole, empty: BrokerProcess) -> None:
    console = make_console(empty)
    console.page.clock.install()
    page = console.open("#/", "Overview")
    charts = page.locator("figure.chart")
    expect(charts.get_by_text("no data yet")).to_have_count(4)
    for _ in range(2):
        with page.expect_response("**/console/data/overview"):
            page.clock.run_for(2000)
    # Nothing is a rate; of nobody's requests there is no latency.
    expect(charts.get_by_text("no data yet")).to_have_count(1)
    latency = page.locator("figure.chart", has_text="Produce latency")
    expect(latency).to_contain_text("no data yet")
