"""Pictures of the console for docs/console.md: `scripts/screenshots`."""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import sin
from pathlib import Path
from typing import Any

from confluent_kafka import Producer
from playwright.sync_api import Browser, Page, sync_playwright

from tests.e2e.admin.console import sample
from tests.e2e.admin.console.conftest import Console, browser_path
from tests.e2e.broker_process import ROOT, BrokerProcess

FOLDER = ROOT / "docs/console"
MOST_BYTES = 150_000
SCREEN = {"viewport": {"width": 1200, "height": 780}}
PHONE = {"viewport": {"width": 390, "height": 780}, "is_mobile": True, "has_touch": True}
#: Until the charts have lines.
CHARTS_AFTER_S = 55


@contextmanager
def producing(bootstrap: str) -> Iterator[None]:
    """Produces and consumes records at a varying rate until the block ends."""
    stopped = threading.Event()

    def work() -> None:
        producer = Producer({"bootstrap.servers": bootstrap, "client.id": "webshop"})
        with sample.members(bootstrap, "dashboard", "orders", 3) as consumers:
            started = time.monotonic()
            number = 600
            while not stopped.wait(0.1):
                for _ in range(int(30 + 20 * sin((time.monotonic() - started) / 6))):
                    number += 1
                    producer.produce("orders", sample.order(number), key=f"c-{number % 37:03}")
                for consumer in consumers:
                    consumer.consume(200, 0.02)
                    if consumer.assignment():
                        consumer.commit(asynchronous=True)
            producer.flush(10)

    worker = threading.Thread(target=work)
    worker.start()
    try:
        yield
    finally:
        stopped.set()
        worker.join()


def save(page: Page, name: str) -> None:
    page.mouse.move(1, 1)
    picture = page.screenshot()
    assert len(picture) < MOST_BYTES, f"{name}: {len(picture)} bytes"
    (FOLDER / f"{name}.png").write_bytes(picture)
    print(f"docs/console/{name}.png: {len(picture) // 1024} KiB", flush=True)


def records(console: Console) -> None:
    page = console.open("#/topics/orders?from=oldest", "orders")
    save(page, "messages")
    page.locator("tr.pressable").nth(1).click()
    page.locator("summary", has_text="customer").click()
    page.locator(".record").evaluate("(record) => record.scrollIntoView()")
    save(page, "record")
    page.get_by_role("button", name="Copy as").click()
    save(page, "copy")
    place = "#/topics/orders?where=json&field=customer.city&operator=contains&text=Tur"
    save(console.open(place, "orders"), "json-field")
    page = console.open("#/topics/orders?from=live", "orders")
    page.locator("tr.pressable").nth(10).wait_for()
    save(page, "live")


def views(console: Console) -> None:
    save(console.open("#/topics", "Topics"), "topics")
    records(console)
    save(console.open("#/topics/orders/produce?replay=0:1", "orders"), "produce")
    save(console.open("#/topics/orders/metrics", "orders"), "topic-metrics")
    page = console.open("#/topics/orders/configs", "orders")
    save(page, "topic-configs")
    page.get_by_role("button", name="Clone").click()
    save(page, "clone")
    save(console.open("#/new-topic", "New topic"), "new-topic")
    save(console.open("#/groups", "Groups"), "groups")
    save(console.open("#/groups/dashboard", "dashboard"), "group")
    page = console.open("#/groups/shipping", "shipping")
    page.get_by_role("button", name="Reset offsets").click()
    page.get_by_role("dialog").get_by_role("button", name="Preview").click()
    page.locator("dialog tbody tr").first.wait_for()
    save(page, "reset-offsets")
    page = console.open("#/requests?api=Produce", "Requests")
    page.locator("tr[data-row] button").first.click()
    save(page, "requests")
    save(console.open("#/connections", "Connections"), "connections")
    save(console.open("#/configs", "Configs"), "configs")


def main() -> None:
    path = browser_path()
    if path is None:
        sys.exit("screenshots: no chromium on this machine")
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        BrokerProcess(Path(folder) / "shop", "default", ["--admin", "127.0.0.1:0"]) as broker,
        sync_playwright() as playwright,
    ):
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        sample.fill(broker.bootstrap)
        with producing(broker.bootstrap):
            take(browser, broker)
        browser.close()


def take(browser: Browser, broker: BrokerProcess) -> None:
    def opened(**options: Any) -> Console:
        context = browser.new_context(timezone_id="UTC", locale="en-US", **options)
        return Console(context.new_page(), broker)

    light, dark = opened(**SCREEN), opened(**SCREEN, color_scheme="dark")
    phone = opened(**PHONE)
    for console in (light, dark, phone):
        console.open("#/", "Overview")
    light.page.wait_for_timeout(CHARTS_AFTER_S * 1000)
    save(light.page, "overview")
    save(dark.page, "overview-dark")
    save(phone.page, "phone")
    views(light)
    for console in (light, dark, phone):
        assert console.faults == []


if __name__ == "__main__":
    main()
