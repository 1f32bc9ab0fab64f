"""Topics are found, made, configured, grown and deleted."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import Console
from tests.e2e.broker_process import BrokerProcess
from tests.e2e.conftest import unused_topic_name


def new_topic(console: Console, partitions: int = 1) -> str:
    name = unused_topic_name()
    with console.broker.connect() as client:
        assert client.create_topic(name, partitions, {}) == 0
    return name


def shown_topics(page: Page) -> list[str]:
    return page.locator("tr[data-row] td:first-child").all_inner_texts()


def test_topics_are_searched_and_sorted_and_the_address_keeps_both(console: Console) -> None:
    page = console.open("#/topics", "Topics")
    expect(page.locator("tr[data-row]", has_text="orders")).to_contain_text("600")
    page.get_by_role("button", name="Records").click()
    first = page.locator("tr[data-row]").first
    expect(first).to_contain_text("600")
    expect(page.get_by_role("columnheader", name="Records")).to_have_attribute(
        "aria-sort", "descending"
    )
    page.get_by_label("Search topics").fill("MENT")
    expect(page.locator("tr[data-row]")).to_have_count(2)
    expect(page.locator("main")).to_contain_text("2 of")
    page.reload()
    console.settled()
    expect(page.get_by_label("Search topics")).to_have_value("MENT")
    assert shown_topics(page) == ["payments", "shipments"]
    page.get_by_label("Search topics").fill("no topic has this")
    expect(page.locator("main")).to_contain_text("No topic has this in its name")


def test_a_topic_is_made_with_configs_and_first_only_checked(console: Console) -> None:
    name = unused_topic_name()
    page = console.open("#/new-topic", "New topic")
    expect(page.get_by_label("Name")).to_be_focused()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Partitions").fill("4")
    page.get_by_label("Search configs").fill("max.message")
    config = page.locator(".config:visible")
    expect(config).to_have_count(1)
    expect(config).to_contain_text("The largest batch of records that is accepted")
    expect(config).to_contain_text("1048588 1.0 MiB")
    config.get_by_role("textbox").fill("many")
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("alert")).to_contain_text("max.message.bytes")
    config.get_by_role("textbox").fill("5000")
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("status").last).to_contain_text(f"{name} could be created so")
    page.get_by_role("button", name="Create topic").click()
    page.get_by_role("heading", name=name, level=1).wait_for()
    expect(page.locator("main")).to_contain_text("4 partitions")
    page.get_by_role("link", name="Configs", exact=True).last.click()
    own = page.locator(".config.own")
    expect(own).to_have_count(1)
    expect(own).to_contain_text("5000")
    expect(own).to_contain_text("instead of 1048588")


def test_a_topic_that_cannot_be_made_says_why(console: Console) -> None:
    page = console.open("#/new-topic", "New topic")
    page.get_by_label("Name").fill("orders")
    page.get_by_role("button", name="Create topic").click()
    fault = page.get_by_role("alert")
    expect(fault).to_contain_text("'orders' already exists")
    expect(fault).to_contain_text("correlation id console-")
    expect(page.get_by_role("button", name="Create topic")).to_be_enabled()


def test_configs_of_a_topic_are_changed_and_set_back(console: Console) -> None:
    name = new_topic(console)
    page = console.open(f"#/topics/{name}/configs", name)
    expect(page.locator("main")).to_contain_text("nothing is set for this topic")
    page.get_by_role("button", name="Change configs").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("message.timestamp.type", exact=True).select_option("LogAppendTime")
    dialog.get_by_label("retention.ms", exact=True).fill("86400000")
    dialog.get_by_role("button", name="Save").click()
    own = page.locator(".config.own")
    expect(own).to_have_count(2)
    expect(own.last).to_contain_text("86400000 1 d")
    expect(own.last.locator(".badge")).to_have_text(["set", "no effect"])
    expect(own.first.locator(".badge")).to_have_text(["set"])
    page.get_by_role("button", name="Change configs").click()
    retention = dialog.locator(".config", has=page.get_by_label("retention.ms", exact=True))
    retention.get_by_role("button", name="Use the default").click()
    dialog.get_by_role("button", name="Save").click()
    expect(own).to_have_count(1)
    expect(own).to_contain_text("LogAppendTime")


def test_a_topic_page_has_partitions_and_consumers(console: Console) -> None:
    page = console.open("#/topics/orders/partitions", "orders")
    row = page.locator("tr[data-row]").first
    expect(page.locator("tr[data-row]")).to_have_count(6)
    expect(row.locator("td").nth(4)).to_have_text(re.compile("KiB"))
    page.get_by_role("link", name="Consumers").click()
    expect(page.locator("tr[data-row]", has_text="shipping")).to_contain_text("6")
    page.get_by_role("link", name="shipping").click()
    page.get_by_role("heading", name="shipping", level=1).wait_for()
    console.open("#/topics/nothing-yet/consumers", "nothing-yet")
    expect(page.locator("main")).to_contain_text("No group has committed an offset here")


def test_partitions_are_added(console: Console) -> None:
    name = new_topic(console, 2)
    page = console.open(f"#/topics/{name}/partitions", name)
    expect(page.locator("tr[data-row]")).to_have_count(2)
    page.get_by_role("button", name="Add partitions").click()
    page.get_by_role("dialog").get_by_label("Partitions in all").fill("5")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("tr[data-row]")).to_have_count(5)


def test_a_topic_is_deleted_only_when_its_name_is_typed(console: Console) -> None:
    name = new_topic(console)
    page = console.open(f"#/topics?q={name}", "Topics")
    page.get_by_role("button", name=f"Delete {name}").click()
    dialog = page.get_by_role("dialog")
    delete = dialog.get_by_role("button", name="Delete")
    expect(delete).to_be_disabled()
    dialog.get_by_label("to confirm").fill(name[:-1])
    expect(delete).to_be_disabled()
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.locator("tr[data-row] a").first.click()
    page.get_by_role("heading", name=name, level=1).wait_for()
    page.get_by_role("button", name="Delete").click()
    dialog.get_by_label("to confirm").fill(name)
    delete.click()
    page.get_by_role("heading", name="Topics", exact=True, level=1).wait_for()
    expect(page.get_by_role("status").last).to_contain_text(f"Topic {name} is deleted")
    assert name not in shown_topics(page)


def test_a_topic_that_is_not_there_says_so(console: Console, shop: BrokerProcess) -> None:
    page = console.open("#/topics/not-there")
    expect(page.get_by_role("alert")).to_contain_text("There is no topic")
