"""Topics: list, create, configs, partitions, consumers, delete records, clone, delete."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.admin.console.conftest import Console
from tests.e2e.conftest import unused_topic_name
from tests.e2e.raw_client import batch


def new_topic(console: Console, partitions: int = 1, records: int = 0) -> str:
    """`records`: in each partition."""
    name = unused_topic_name()
    with console.broker.connect() as client:
        assert client.create_topic(name, partitions, {}) == 0
        values = [f"value {number}".encode() for number in range(records)]
        for index in range(partitions if records else 0):
            assert client.produce(name, batch(values), index).error == 0
    return name


def shown_topics(page: Page) -> list[str]:
    return page.locator("tr[data-row] td:first-child").all_inner_texts()


def offsets(page: Page) -> list[tuple[str, str]]:
    """Log start and end offset of each partition, as the page shows them."""
    cells = [row.locator("td").all_inner_texts() for row in page.locator("tr[data-row]").all()]
    return [(row[1], row[2]) for row in cells]


def press(page: Page, name: str) -> Locator:
    page.get_by_role("button", name=name, exact=True).click()
    return page.get_by_role("dialog")


def test_topics_are_searched_and_sorted_and_the_address_has_both(console: Console) -> None:
    page = console.open("#/topics", "Topics")
    expect(page.locator("tr[data-row]", has_text="orders")).to_contain_text("600")
    page.get_by_role("button", name="Offsets").click()
    expect(page.locator("tr[data-row]").first).to_contain_text("600")
    expect(page.get_by_role("columnheader", name="Offsets")).to_have_attribute(
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
    expect(page.locator("main .empty")).to_be_visible()


def test_a_topic_is_created_with_configs(console: Console) -> None:
    page = console.open("#/new-topic", "New topic")
    expect(page.get_by_label("Name")).to_be_focused()
    page.get_by_label("Name").fill("orders")
    page.get_by_role("button", name="Create topic").click()
    expect(page.get_by_role("alert")).to_contain_text("correlation id console-")
    name = unused_topic_name()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Partitions").fill("4")
    page.get_by_label("Search configs").fill("no config has this name")
    expect(page.locator(".config:visible")).to_have_count(4)  # none of the others
    preallocate = page.locator(".config", has=page.get_by_label("preallocate", exact=True))
    expect(preallocate).to_contain_text("no effect")
    config = page.locator(".config", has=page.get_by_label("max.message.bytes", exact=True))
    expect(config).to_contain_text("1048588 1.0 MiB")
    config.get_by_role("textbox").fill("many")
    page.get_by_role("button", name="Validate").click()
    expect(page.get_by_role("alert")).to_contain_text("max.message.bytes")
    config.get_by_role("textbox").fill("5000")
    page.get_by_role("button", name="Validate").click()
    expect(page.get_by_role("status").last).to_contain_text(name)
    page.get_by_role("button", name="Create topic").click()
    page.get_by_role("heading", name=name, level=1).wait_for()
    expect(page.locator("main")).to_contain_text("4 partitions")


def test_configs_of_a_topic_are_changed_and_reset(console: Console) -> None:
    name = new_topic(console)
    page = console.open(f"#/topics/{name}/configs", name)
    own = page.locator(".config.own")
    expect(own).to_have_count(0)
    dialog = press(page, "Change configs")
    dialog.get_by_label("message.timestamp.type", exact=True).select_option("LogAppendTime")
    dialog.get_by_label("segment.jitter.ms", exact=True).fill("86400000")
    dialog.get_by_role("button", name="Save").click()
    expect(own).to_have_count(2)
    expect(own.last).to_contain_text("86400000 1 d")
    expect(own.last).to_contain_text("default 0")
    expect(own.last.locator(".badge")).to_have_text(["set", "no effect"])
    expect(own.first.locator(".badge")).to_have_text(["set"])
    press(page, "Change configs")
    jitter = dialog.locator(".config", has=page.get_by_label("segment.jitter.ms", exact=True))
    jitter.get_by_role("button", name="Use the default").click()
    dialog.get_by_role("button", name="Save").click()
    expect(own).to_have_count(1)
    page.get_by_label("Search configs").fill("max.message")
    expect(page.locator(".config:visible")).to_have_count(1)


def test_a_compacted_topic_shows_what_is_not_compacted_yet(console: Console) -> None:
    page = console.open("#/topics/customers/partitions", "customers")
    expect(page.locator(".head")).to_contain_text(
        re.compile(
            r"\d offsets .* dirty: 0 %, compacted above 50 % · \d+ records in the active segment"
        )
    )


def test_a_compacted_topic_shows_its_last_pass(console: Console) -> None:
    def compacted(route: Route) -> None:
        topic = route.fetch().json()
        topic["compaction"] |= {"compacted_at": topic["at_ms"] - 90_000, "records_removed": 7}
        route.fulfill(json=topic)

    console.page.route("**/console/data/topics/customers", compacted)
    page = console.open("#/topics/customers/partitions", "customers")
    last = "compacted 1 min 30 s ago, 7 records removed since the start"
    expect(page.locator(".head")).to_contain_text(last)


def test_a_topic_has_consumers_and_partitions_and_more_are_added(console: Console) -> None:
    page = console.open("#/topics/orders/partitions", "orders")
    head = page.locator(".head")
    expect(head).to_contain_text(re.compile(r"6 partitions · 600 records · \d+ KiB"))
    expect(head).to_contain_text(re.compile(r"oldest \d+ d.* · deletion is due"))
    expect(head).to_contain_text(re.compile("read by billing.*shipping"))
    expect(head.get_by_role("link", name="billing")).to_have_attribute("href", "#/groups/billing")
    rows = page.locator("tr[data-row]")
    expect(rows).to_have_count(6)
    expect(rows.first.locator("td").nth(4)).to_have_text(re.compile("KiB"))
    # A little more than a minute.
    ago_s = (73, 47, 21, 10)
    console.has_history("**/orders/history", ago_s, messages_in_per_sec=3, bytes_out_per_sec=2048)
    page.get_by_role("link", name="Metrics").click()
    expect(console.chart("Records")).to_contain_text("in 3/s")
    line = console.chart("Bytes").locator("path.line").last
    expect(line).to_have_attribute("d", re.compile("^M66.0 .*L"))  # from where the grid begins
    expect(console.chart("Bytes")).to_contain_text("out 2.0 KiB/s")
    page.get_by_role("link", name="Consumers").click()
    expect(page.locator("tr[data-row]", has_text="shipping")).to_contain_text("6")
    rows.get_by_role("link", name="shipping").click()
    page.get_by_role("heading", name="shipping", level=1).wait_for()
    name = new_topic(console, 2)
    page = console.open(f"#/topics/{name}/partitions", name)
    expect(rows).to_have_count(2)
    press(page, "Add partitions").get_by_label("Partitions in all").fill("5")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(rows).to_have_count(5)


def test_records_of_a_topic_are_deleted_only_when_its_name_is_typed(console: Console) -> None:
    name = new_topic(console, 2, records=5)
    page = console.open(f"#/topics/{name}/partitions", name)
    dialog = press(page, "Delete records")
    confirm = dialog.get_by_role("button", name="Delete records")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("Partition", exact=True).select_option("1")
    dialog.get_by_label("Which").select_option("before")
    dialog.get_by_label("to confirm").fill(name)
    confirm.click()
    fault = dialog.get_by_role("alert")
    expect(fault).to_be_visible()
    dialog.get_by_label("Before offset").fill("9")
    confirm.click()
    expect(fault).to_contain_text("Partition 1:")
    dialog.get_by_label("Before offset").fill("3")
    confirm.click()
    expect(dialog).to_have_count(0)
    expect(page.locator("tr[data-row]").nth(1).locator("td").nth(1)).to_have_text("3")
    assert offsets(page) == [("0", "5"), ("3", "5")]
    # This view is not polled: the deletion itself reads the records again.
    console.open(f"#/topics/{name}?from=oldest", name)
    records = page.locator("tr.pressable")
    expect(records).to_have_count(7)
    press(page, "Delete records").get_by_label("to confirm").fill(name)
    confirm.click()
    expect(records).to_have_count(0)


def test_a_topic_is_cloned(console: Console) -> None:
    page = console.open("#/topics/orders", "orders")
    dialog = press(page, "Clone")
    name = dialog.get_by_label("Name of the new topic")
    clone = dialog.get_by_role("button", name="Clone")
    expect(name).to_be_focused()
    expect(name).to_have_value("orders-copy")
    name.fill("payments")
    clone.click()
    expect(dialog.get_by_role("alert")).to_contain_text("already exists")
    for with_records, records in ((False, 0), (True, 600)):
        copy = unused_topic_name()
        name.fill(copy)
        dialog.get_by_label("Copy existing records").set_checked(with_records)
        clone.click()
        page.get_by_role("heading", name=copy, level=1).wait_for()
        page.get_by_role("link", name="Partitions").click()
        expect(page.locator("tr[data-row]")).to_have_count(6)
        counts = page.locator("tr[data-row] td:nth-child(4)").all_inner_texts()
        assert sum(map(int, counts)) == records
        if not with_records:
            console.open("#/topics/orders", "orders")
            press(page, "Clone")


def test_the_progress_of_a_clone_is_shown_and_its_failure(console: Console) -> None:
    """The test writes the lines of the response: a real clone ends too soon."""
    name = new_topic(console)
    page = console.open(f"#/topics/{name}", name)
    page.evaluate(
        """() => {
          const original = window.fetch
          window.fetch = (address, options) => {
            if (!String(address).endsWith(':clone')) return original(address, options)
            const body = new ReadableStream({ start: (control) => (window.lines = control) })
            window.stopped = new Promise((stop) => options.signal.addEventListener('abort', stop))
            return Promise.resolve(new Response(body))
          }
          const bytes = new TextEncoder()
          window.line = (text) => window.lines.enqueue(bytes.encode(text))
        }"""
    )
    dialog = press(page, "Clone")
    dialog.get_by_label("Copy existing records").check()
    dialog.get_by_role("button", name="Clone").click()
    progress = dialog.get_by_role("progressbar")
    expect(progress).to_be_visible()
    page.evaluate("""line('{"copied_records": 1500, "total_records"')""")
    page.evaluate("""line(': 6000, "done": false}\\n')""")
    expect(dialog).to_contain_text("1,500 of 6,000 records")
    expect(progress).to_have_js_property("value", 1500)
    page.evaluate(
        """line('{"error_code": 50301, "message": "the disk is full", "done": false}\\n')"""
    )
    expect(dialog.get_by_role("alert")).to_contain_text("the disk is full")
    expect(progress).to_have_count(0)
    dialog.get_by_role("button", name="Clone").click()
    expect(progress).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    page.evaluate("window.stopped.then(() => true)")


def test_a_topic_is_deleted_only_when_its_name_is_typed(console: Console) -> None:
    name = new_topic(console)
    page = console.open(f"#/topics?q={name}", "Topics")
    dialog = press(page, f"Delete {name}")
    delete = dialog.get_by_role("button", name="Delete")
    expect(delete).to_be_disabled()
    dialog.get_by_label("to confirm").fill(name[:-1])
    expect(delete).to_be_disabled()
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.locator("tr[data-row] a").first.click()
    page.get_by_role("heading", name=name, level=1).wait_for()
    press(page, "Delete").get_by_label("to confirm").fill(name)
    delete.click()
    page.get_by_role("heading", name="Topics", exact=True, level=1).wait_for()
    assert name not in shown_topics(page)
    page.go_back()
    expect(page.get_by_role("alert")).to_contain_text(name)
