"""What is done to a topic as a whole: its records are deleted, or it is copied."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import Console
from tests.e2e.admin.console.test_topics import new_topic
from tests.e2e.conftest import unused_topic_name
from tests.e2e.raw_client import batch


def filled_topic(console: Console, partitions: int = 2) -> str:
    """Five records in each partition."""
    name = new_topic(console, partitions)
    with console.broker.connect() as client:
        for index in range(partitions):
            values = [f"value {number}".encode() for number in range(5)]
            assert client.produce(name, batch(values), index).error == 0
    return name


def offsets(page: Page) -> list[tuple[str, str]]:
    """The first and the next of each partition, as the page has them."""
    rows = page.locator("tr[data-row]")
    return [
        (row.locator("td").nth(1).inner_text(), row.locator("td").nth(2).inner_text())
        for row in rows.all()
    ]


def test_records_of_a_topic_are_deleted_only_when_its_name_is_typed(console: Console) -> None:
    name = filled_topic(console)
    page = console.open(f"#/topics/{name}", name)
    expect(page.locator("tr.pressable")).to_have_count(10)
    page.get_by_role("button", name="Truncate").click()
    dialog = page.get_by_role("dialog")
    confirm = dialog.get_by_role("button", name="Delete records")
    expect(confirm).to_be_disabled()
    dialog.get_by_label("to confirm").fill(name)
    confirm.click()
    expect(page.get_by_role("status").last).to_contain_text(f"Records of {name} are deleted")
    expect(page.locator("main")).to_contain_text("There are no records here")
    page.get_by_role("link", name="Partitions").click()
    expect(page.locator("tr[data-row]")).to_have_count(2)
    assert offsets(page) == [("5", "5"), ("5", "5")]


def test_records_of_one_partition_before_an_offset_are_deleted(console: Console) -> None:
    name = filled_topic(console)
    page = console.open(f"#/topics/{name}/partitions", name)
    page.get_by_role("button", name="Truncate").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Of", exact=True).select_option("1")
    dialog.get_by_label("Which").select_option("before")
    dialog.get_by_label("to confirm").fill(name)
    confirm = dialog.get_by_role("button", name="Delete records")
    confirm.click()
    fault = dialog.get_by_role("alert")
    expect(fault).to_contain_text("Say before which offset")
    dialog.get_by_label("Before offset").fill("9")
    confirm.click()
    expect(fault).to_contain_text("Partition 1:")
    expect(fault).to_contain_text("The offset 9")
    dialog.get_by_label("Before offset").fill("3")
    confirm.click()
    expect(dialog).to_have_count(0)
    expect(page.locator("tr[data-row]").nth(1).locator("td").nth(1)).to_have_text("3")
    assert offsets(page) == [("0", "5"), ("3", "5")]


def test_a_topic_is_cloned_without_its_records(console: Console) -> None:
    name = filled_topic(console, 3)
    page = console.open(f"#/topics/{name}", name)
    page.get_by_role("button", name="Clone").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label("Name of the new topic")).to_be_focused()
    expect(dialog.get_by_label("Name of the new topic")).to_have_value(f"{name}-copy")
    dialog.get_by_label("Name of the new topic").fill("orders")
    dialog.get_by_role("button", name="Clone").click()
    expect(dialog.get_by_role("alert")).to_contain_text("'orders' already exists")
    made = unused_topic_name()
    dialog.get_by_label("Name of the new topic").fill(made)
    dialog.get_by_role("button", name="Clone").click()
    page.get_by_role("heading", name=made, level=1).wait_for()
    expect(page.get_by_role("status").last).to_contain_text(f"{made} is a clone of {name}")
    expect(page.locator("main")).to_contain_text("3 partitions")
    expect(page.locator("main")).to_contain_text("There are no records here")


def test_a_topic_is_cloned_with_its_records(console: Console) -> None:
    made = unused_topic_name()
    page = console.open("#/topics/orders", "orders")
    page.get_by_role("button", name="Clone").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the new topic").fill(made)
    dialog.get_by_label("With the records").check()
    dialog.get_by_role("button", name="Clone").click()
    page.get_by_role("heading", name=made, level=1).wait_for()
    page.get_by_role("link", name="Partitions").click()
    expect(page.locator("tr[data-row]")).to_have_count(6)
    records = page.locator("tr[data-row] td:nth-child(4)").all_inner_texts()
    assert sum(map(int, records)) == 600


def test_the_progress_of_a_copy_is_shown_and_a_failure_told(console: Console) -> None:
    """The lines are ours here, as the broker writes them: one copy is over too soon to be seen."""
    name = new_topic(console)
    page = console.open(f"#/topics/{name}", name)
    page.evaluate(
        """() => {
          const whole = window.fetch
          window.fetch = (address, options) => {
            if (!String(address).endsWith(':clone')) return whole(address, options)
            const body = new ReadableStream({ start: (control) => (window.lines = control) })
            window.stopped = new Promise((stop) => options.signal.addEventListener('abort', stop))
            return Promise.resolve(new Response(body))
          }
          const bytes = new TextEncoder()
          window.line = (text) => window.lines.enqueue(bytes.encode(text))
        }"""
    )
    page.get_by_role("button", name="Clone").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("With the records").check()
    dialog.get_by_role("button", name="Clone").click()
    expect(dialog.get_by_role("progressbar")).to_be_visible()
    page.evaluate("""line('{"copied_records": 1500, "total_records"')""")
    page.evaluate("""line(': 6000, "done": false}\\n')""")
    expect(dialog).to_contain_text("1,500 of 6,000 records")
    expect(dialog.get_by_role("progressbar")).to_have_js_property("value", 1500)
    page.evaluate(
        """line('{"error_code": 50301, "message": "the disk is full", "done": false}\\n')"""
    )
    expect(dialog.get_by_role("alert")).to_contain_text("the disk is full")
    expect(dialog.get_by_role("progressbar")).to_have_count(0)
    dialog.get_by_role("button", name="Clone").click()
    expect(dialog.get_by_role("progressbar")).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    page.evaluate("window.stopped.then(() => true)")
