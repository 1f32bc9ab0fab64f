"""How long each page of the console takes with a thousand topics: `scripts/screenshots --times`.

From the change of the address to the frame in which all that was asked for is painted, with the
page that was left behind each time another one. Loading the console itself is told apart.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka.admin import AdminClient, NewTopic
from playwright.sync_api import Browser, Page, sync_playwright

from tests.bench.machine import busy
from tests.e2e.admin.console import sample
from tests.e2e.admin.console.conftest import Console, browser_path
from tests.e2e.broker_process import BrokerProcess

MANY = 1000
ROUNDS = 15
PAGES = (
    ("overview", "#/", "Overview"),
    ("topics", "#/topics", "Topics"),
    ("topic: messages", "#/topics/orders", "orders"),
    ("topic: partitions", "#/topics/orders/partitions", "orders"),
    ("topic: consumers", "#/topics/orders/consumers", "orders"),
    ("topic: configs", "#/topics/orders/configs", "orders"),
    ("new topic", "#/new-topic", "New topic"),
    ("groups", "#/groups", "Groups"),
    ("group", "#/groups/dashboard", "dashboard"),
    ("requests", "#/requests", "Requests"),
    ("connections", "#/connections", "Connections"),
    ("configs", "#/configs", "Configs"),
)
ELSEWHERE = "#/no-such-page"
#: A task that a frame asked for runs when that frame is painted.
PAINTED = """async ([place, heading]) => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
  const whole = () => {
    const main = document.querySelector('main')
    const title = main.querySelector('h1')?.textContent
    return title === heading && main.querySelector('.view > *') && !main.querySelector('.loading')
  }
  await painted()
  const started = performance.now()
  location.hash = place
  do await painted()
  while (!whole() && performance.now() - started < 20_000)
  if (!whole()) throw new Error(`${place} is not there after 20 s`)
  return performance.now() - started
}"""
LOADED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


@contextmanager
def full_broker() -> Iterator[BrokerProcess]:
    """The shop of the pictures, with a thousand topics more, and a group at work."""
    with (
        tempfile.TemporaryDirectory() as folder,
        BrokerProcess(Path(folder) / "shop", "default", ["--admin", "127.0.0.1:0"]) as broker,
    ):
        sample.fill(broker.bootstrap)
        create_many(broker.bootstrap)
        with sample.members(broker.bootstrap, "dashboard", "orders", 3) as members:
            for member in members:
                member.consume(200, 1)
            yield broker


def create_many(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    wanted = [NewTopic(f"topic-{number:04}", 3, 1) for number in range(MANY)]
    for created in admin.create_topics(wanted).values():
        created.result(60)


def warm(console: Console) -> dict[str, list[float]]:
    """Pages in turn, and all of them again, so that what else the machine does meets each."""
    times: dict[str, list[float]] = {name: [] for name, _, _ in PAGES}
    page = console.open(ELSEWHERE)
    for _ in range(ROUNDS):
        for name, place, heading in PAGES:
            times[name].append(float(page.evaluate(PAINTED, [place, heading])))
            leave(page)
    return times


def leave(page: Page) -> None:
    page.evaluate(f"location.hash = '{ELSEWHERE}'")
    page.get_by_text("There is no such page").wait_for()


def cold(browser: Browser, broker: BrokerProcess) -> list[float]:
    """A browser that has nothing of the console yet, until it paints something."""
    times = []
    for _ in range(ROUNDS):
        context = browser.new_context()
        page = Console(context.new_page(), broker).open("#/topics", "Topics")
        times.append(float(page.evaluate(LOADED)))
        context.close()
    return times


def row(name: str, times: Sequence[float]) -> str:
    return f"| {name} | {statistics.median(times):.0f} | {max(times):.0f} |"


def main() -> None:
    path = browser_path()
    if path is None:
        sys.exit("screenshots: no chromium on this machine")
    before = busy()
    with full_broker() as broker, sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        context = browser.new_context(viewport={"width": 1200, "height": 780})
        console = Console(context.new_page(), broker)
        times = warm(console)
        assert console.faults == []
        first = cold(browser, broker)
        version = browser.version
        browser.close()
    print("| page | median, ms | slowest, ms |\n| --- | --- | --- |")
    for name, each in times.items():
        print(row(name, each))
    print(row("first paint of a browser that never was here", first))
    print(
        f"\n{ROUNDS} times each, {MANY:,} topics and the shop's; chromium {version}, "
        f"{os.cpu_count()} cores, load before {before}, after {busy()}"
    )


if __name__ == "__main__":
    main()
