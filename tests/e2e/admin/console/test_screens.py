"""By keyboard, on a phone, in the dark, and with a thousand topics."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import Console, MakeConsole
from tests.e2e.broker_process import BrokerProcess

VIEWS = [
    "#/",
    "#/topics",
    "#/new-topic",
    "#/topics/orders",
    "#/topics/orders/partitions",
    "#/topics/orders/consumers",
    "#/topics/orders/configs",
    "#/topics/orders/produce",
    "#/groups",
    "#/groups/billing",
    "#/requests",
    "#/connections",
    "#/configs",
]
PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
MANY = 1000


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.innerText || document.activeElement.value"))


@pytest.mark.long
def test_keys_lead_everywhere(console: Console) -> None:
    page = console.open("#/", "Overview")
    keys = {"t": "Topics", "g": "Groups", "r": "Requests", "c": "Connections", "s": "Configs"}
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
    # In a field they are letters.
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
    page.get_by_role("button", name="Record").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".record")).to_have_count(1)


def test_a_dialog_keeps_the_focus_and_gives_it_back(console: Console) -> None:
    page = console.open("#/groups/billing", "billing")
    page.get_by_role("button", name="Delete").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_label("to confirm")).to_be_focused()
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate("!document.activeElement.closest('main')")
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Delete")).to_be_focused()


def test_the_content_is_skipped_to(console: Console) -> None:
    page = console.open("#/topics", "Topics")
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    expect(page).to_have_url(re.compile("#/topics$"))


def test_no_view_is_wider_than_a_phone(make_console: MakeConsole, shop: BrokerProcess) -> None:
    console = make_console(shop, **PHONE)
    for place in VIEWS:
        page = console.open(place)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, place
        expect(page.get_by_role("navigation", name="Console")).to_be_in_viewport()
    page = console.open("#/topics/orders/produce")
    expect(page.get_by_role("link", name="Produce", exact=True)).to_be_in_viewport(ratio=0.9)
    page = console.open("#/topics", "Topics")
    page.get_by_role("link", name="orders", exact=True).tap()
    page.locator("tr.pressable").first.tap()
    expect(page.locator(".record")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.long
def test_a_title_has_its_own_line_where_buttons_leave_no_room(
    make_console: MakeConsole, shop: BrokerProcess
) -> None:
    console = make_console(shop, viewport={"width": 390, "height": 740})
    page = console.open("#/topics/orders", "orders")
    title = page.get_by_role("heading", name="orders", level=1).bounding_box()
    below = page.get_by_role("button", name="Truncate").bounding_box()
    assert title is not None and below is not None
    assert title["height"] < 30, "it is broken"
    assert below["y"] > title["y"] + title["height"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (1200, "When API Correlation id Client Took Where Outcome"),
        (800, "When API Client Took Outcome"),
        (360, "When API Took"),
    ],
)
def test_requests_are_readable_at_every_width(
    make_console: MakeConsole, shop: BrokerProcess, width: int, columns: str
) -> None:
    console = make_console(shop, viewport={"width": width, "height": 740})
    page = console.open("#/requests?api=OffsetCommit", "Requests")
    row = page.locator("tr[data-row]").first
    row.wait_for()
    heads = page.get_by_role("columnheader").filter(visible=True).all_inner_texts()
    assert " ".join(heads) == columns
    cut = "(cells) => cells.filter((c) => c.scrollWidth > c.clientWidth).map((c) => c.innerText)"
    assert row.locator("td").evaluate_all(cut) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.long
def test_short_names_are_whole_at_every_width(
    make_console: MakeConsole, shop: BrokerProcess
) -> None:
    client = AdminClient({"bootstrap.servers": shop.bootstrap, "client.id": "recommendations"})
    client.list_topics(timeout=30)
    console = make_console(shop)
    for place, name in (
        ("#/topics", "nothing-yet"),
        ("#/groups", "recommendations"),
        ("#/connections", "recommendations"),
    ):
        page = console.open(place)
        cell = page.get_by_role("link", name=name).first
        for width in (360, 768, 1024, 1440):
            page.set_viewport_size({"width": width, "height": 740})
            assert cell.evaluate("(link) => link.scrollWidth <= link.clientWidth"), (place, width)


def ground(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


@pytest.mark.long
def test_the_theme_is_the_systems_until_another_is_chosen(
    make_console: MakeConsole, shop: BrokerProcess
) -> None:
    dark = make_console(shop, color_scheme="dark").open("#/topics", "Topics")
    light = make_console(shop, color_scheme="light").open("#/topics", "Topics")
    dark_ground, light_ground = ground(dark), ground(light)
    assert dark_ground != light_ground
    dark.get_by_role("button", name="Light theme").click()
    assert ground(dark) == light_ground
    dark.reload()
    dark.get_by_role("button", name="Dark theme").wait_for()
    assert ground(dark) == light_ground


@pytest.mark.long
def test_a_thousand_topics_are_a_screenful_of_rows(
    make_console: MakeConsole,
    own_console: Callable[..., BrokerProcess],
) -> None:
    broker = own_console()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    wanted = [NewTopic(f"topic-{number:04}", 3, 1) for number in range(MANY)]
    for created in admin.create_topics(wanted).values():
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
