"""Keyboard, screen widths, themes, and a thousand topics."""

from __future__ import annotations

import re

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import ADMIN, Console, MakeConsole
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import StartBroker

VIEWS = [
    "#/",
    "#/topics",
    "#/new-topic",
    "#/topics/orders",
    "#/topics/orders/partitions",
    "#/topics/orders/consumers",
    "#/topics/orders/metrics",
    "#/topics/orders/configs",
    "#/topics/orders/produce",
    "#/groups",
    "#/groups/billing",
    "#/transactions",
    "#/requests",
    "#/connections",
    "#/configs",
    "#/users",
    "#/quotas",
]
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
#: The texts of elements that are cut.
CUT = "(all) => all.filter((e) => e.scrollWidth > e.clientWidth).map((e) => e.innerText)"


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.innerText || document.activeElement.value"))


@pytest.mark.long
def test_every_view_has_a_key(console: Console) -> None:
    page = console.open("#/", "Overview")
    keys = {"t": "Topics", "g": "Groups", "x": "Transactions", "r": "Requests"} | {
        "c": "Connections",
        "s": "Configs",
        "u": "Users",
        "a": "ACLs",
        "q": "Quotas",
    }
    for key, name in {**keys, "o": "Overview"}.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.get_by_role("heading", name=name, exact=True, level=1).wait_for()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next row")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("n")
    page.get_by_role("heading", name="New topic", level=1).wait_for()
    # In a field keys are letters.
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("g t?")
    expect(page.get_by_label("Name")).to_have_value("g t?")


def test_a_topic_is_found_opened_and_read_by_keyboard(console: Console) -> None:
    page = console.open("#/topics", "Topics")
    page.keyboard.press("/")
    expect(page.get_by_label("Search topics")).to_be_focused()
    page.keyboard.type("order")
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.keyboard.press("Control+A")
    page.keyboard.type("s")
    expect(page.locator("tr[data-row]")).not_to_have_count(1)
    page.locator("tr[data-row] a").first.focus()
    first = focused(page)
    page.keyboard.press("ArrowDown")
    assert focused(page) != first
    page.keyboard.press("ArrowUp")
    assert focused(page) == first
    page.keyboard.press("End")
    page.keyboard.press("Home")
    assert focused(page) == first
    page.keyboard.press("Enter")
    page.get_by_role("heading", name=first, level=1).wait_for()
    console.settled()
    page.locator("tr.pressable").first.get_by_role("button").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".record")).to_have_count(1)


def test_the_focus_skips_the_navigation_and_stays_in_a_dialog(console: Console) -> None:
    page = console.open("#/groups/billing", "billing")
    page.get_by_role("link", name="Skip to the content").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    expect(page).to_have_url(re.compile("#/groups/billing$"))
    delete = page.get_by_role("button", name="Delete")
    delete.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("to confirm")).to_be_focused()
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate("!document.activeElement.closest('main')")
    page.keyboard.press("Escape")
    expect(delete).to_be_focused()


def test_no_view_is_wider_than_a_phone(console: Console) -> None:
    console.page.set_viewport_size({"width": 360, "height": 740})
    for place in VIEWS:
        page = console.open(place)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, place
        expect(page.get_by_role("navigation", name="Console")).to_be_in_viewport()
    page = console.open("#/topics/orders/produce")
    expect(page.get_by_role("link", name="Produce", exact=True)).to_be_in_viewport(ratio=0.9)


@pytest.mark.long
def test_a_record_is_opened_on_a_phone(make_console: MakeConsole, shop: BrokerProcess) -> None:
    page = make_console(shop, **PHONE).open("#/topics", "Topics")
    page.get_by_role("link", name="orders", exact=True).tap()
    page.locator("tr.pressable").first.tap()
    expect(page.locator(".record")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.long
def test_names_are_whole_and_views_fit_at_every_width(
    console: Console, shop: BrokerProcess
) -> None:
    client = AdminClient({"bootstrap.servers": shop.bootstrap, "client.id": "recommendations"})
    client.list_topics(timeout=30)
    for place, name in (
        ("#/topics", "nothing-yet"),
        ("#/groups", "recommendations"),
        ("#/connections", "recommendations"),
    ):
        page = console.open(place)
        link = page.get_by_role("link", name=name).first
        for width in (360, 768, 1024, 1440):
            page.set_viewport_size({"width": width, "height": 740})
            assert link.evaluate("(link) => link.scrollWidth <= link.clientWidth"), (place, width)

    page = console.open("#/topics/orders", "orders")
    page.set_viewport_size({"width": 390, "height": 740})
    title = page.get_by_role("heading", name="orders", level=1).bounding_box()
    below = page.get_by_role("button", name="Clone").bounding_box()
    assert title is not None and below is not None
    assert title["height"] < 30, "the title is broken into lines"
    assert below["y"] > title["y"] + title["height"]

    page = console.open("#/requests?api=OffsetCommit&client_id=rdkafka", "Requests")
    row = page.locator("tr[data-row]").first
    for width, columns in (
        (1200, "When API Correlation id Client Duration Stages Outcome"),
        (800, "When API Client Duration Outcome"),
        (360, "When API Duration"),
    ):
        page.set_viewport_size({"width": width, "height": 740})
        heads = page.get_by_role("columnheader").filter(visible=True).all_inner_texts()
        assert " ".join(heads) == columns
        assert row.locator("td").evaluate_all(CUT) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.long
def test_errors_and_apis_of_requests_are_whole_or_cut_with_an_ellipsis(console: Console) -> None:
    page = console.page
    rows = page.locator("tr[data-row]")

    def show(*requests: tuple[str, list[str]]) -> None:
        response = page.request.get(f"{console.home}requestz?limit={len(requests)}").json()
        for one, (api, errors) in zip(response["data"], requests, strict=True):
            one.update(api=api, version=1, correlation_id=1, client_id="client", errors=errors)
        console.refuse("**/requestz?*", 200, response)
        console.open("#/requests", "Requests")
        expect(rows).to_have_count(len(requests))

    show(
        ("CreateTopics", ["TOPIC_ALREADY_EXISTS"]),
        ("IncrementalAlterConfigs", ["INVALID_CONFIG"]),
        ("ConsumerGroupDescribe", ["UNKNOWN_TOPIC_OR_PARTITION"]),
    )
    assert page.locator("tr[data-row] td, tr[data-row] .badge").evaluate_all(CUT) == []

    errors = ["UNKNOWN_TOPIC_OR_PARTITION", "OFFSET_OUT_OF_RANGE", "NOT_LEADER_OR_FOLLOWER"]
    show(("Fetch", errors))
    badge, cell = rows.locator(".badge"), rows.locator("td").last
    right = "(element) => element.getBoundingClientRect().right"
    assert badge.evaluate(right) <= cell.evaluate(right)
    assert badge.evaluate("(element) => getComputedStyle(element).textOverflow") == "ellipsis"
    assert badge.evaluate("(element) => element.scrollWidth > element.clientWidth")
    page.set_viewport_size({"width": 360, "height": 740})
    expect(rows.get_by_label(f"failed: {', '.join(errors)}")).to_be_visible()


def background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


@pytest.mark.long
def test_the_theme_is_that_of_the_system_until_the_user_chooses_one(
    make_console: MakeConsole, shop: BrokerProcess
) -> None:
    dark = make_console(shop, color_scheme="dark").open("#/topics", "Topics")
    light = make_console(shop, color_scheme="light").open("#/topics", "Topics")
    expected = background(light)
    assert background(dark) != expected
    dark.get_by_role("button", name="Light theme").click()
    assert background(dark) == expected
    dark.reload()
    dark.get_by_role("button", name="Dark theme").wait_for()
    assert background(dark) == expected


@pytest.mark.long
def test_only_the_visible_rows_of_a_thousand_topics_are_in_the_page(
    make_console: MakeConsole, start_broker: StartBroker
) -> None:
    broker = start_broker(*ADMIN, engine="memory")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    topics = [NewTopic(f"topic-{number:04}", 3, 1) for number in range(1000)]
    for created in admin.create_topics(topics).values():
        created.result(60)
    console = make_console(broker)
    page = console.open("#/topics", "Topics")
    expect(page.locator("main")).to_contain_text("1,000 topics")
    assert page.locator("tr[data-row]").count() < 60
    page.mouse.wheel(0, 20_000)
    expect(page.get_by_role("link", name="topic-0460")).to_be_attached()
    assert page.locator("tr[data-row]").count() < 60
    page.locator("tr[data-row] a").first.focus()
    page.keyboard.press("End")
    assert focused(page) == "topic-0999"
    page.get_by_label("Search topics").fill("77")
    expect(page.locator("main")).to_contain_text("19 of 1,000 topics")
