"""The console in a real browser, over a broker with data.

OTTLA_TEST_BROWSER names another browser of Chromium's kind than the machine's.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    expect,
    sync_playwright,
)

from tests.e2e.admin.console import sample
from tests.e2e.broker_process import BrokerProcess

PATIENCE_MS = 20_000


def browser_path() -> str | None:
    named = os.environ.get("OTTLA_TEST_BROWSER")
    return named or shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = browser_path()
    if path is None:
        pytest.skip("no chromium on this machine")
    # Root and containers have no sandbox and little shared memory.
    arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=arguments)
        yield chromium
        chromium.close()


def console_broker(folder: Path, *settings: str) -> BrokerProcess:
    return BrokerProcess(folder, "memory", ["--admin", "127.0.0.1:0", *settings])


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """The broker of a shop. Tests change only what they create themselves."""
    with console_broker(tmp_path_factory.mktemp("console")) as broker:
        sample.fill(broker.bootstrap)
        yield broker
        assert broker.terminate() == 0, broker.log()


@pytest.fixture
def own_console(tmp_path: Path) -> Iterator[Callable[..., BrokerProcess]]:
    """Starts empty brokers for this test alone."""
    running: list[BrokerProcess] = []

    def start(*settings: str) -> BrokerProcess:
        running.append(console_broker(tmp_path / f"broker-{len(running)}", *settings))
        running[-1].start()
        return running[-1]

    yield start
    for broker in running:
        broker.kill()


class Console:
    """A page of the console, and all faults that the browser reports in it."""

    def __init__(self, page: Page, broker: BrokerProcess) -> None:
        self.page = page
        self.broker = broker
        self.home = f"http://{broker.admin.host}:{broker.admin.port}/"
        self.faults: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: self.faults.append(f"{error}\n{error.stack}"))
        page.on("console", self._logged)
        page.on("dialog", lambda dialog: self.faults.append(f"a dialog opened: {dialog.message}"))

    def _logged(self, message: ConsoleMessage) -> None:
        # Some tests are about refused requests, which the page shows itself.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(message.text)

    def open(self, place: str = "#/", heading: str | None = None) -> Page:
        """Waits until the view is drawn and nothing is loading."""
        self.page.goto(self.home + place)
        if heading is not None:
            self.page.get_by_role("heading", name=heading, exact=True, level=1).wait_for()
        self.settled()
        return self.page

    def settled(self) -> None:
        self.page.locator("main .view > *").first.wait_for()
        expect(self.page.locator("main .loading")).to_have_count(0)

    def refuse(self, path: str, status: int = 503, body: Any = None) -> None:
        """Requests to this path get this response from now on, not the one of the broker."""
        refusal = {"error_code": 50302, "message": "not now", "correlation_id": "refused-1"}
        self.page.route(path, lambda route: route.fulfill(status=status, json=body or refusal))


MakeConsole = Callable[..., Console]


STANDARD = {"timezone_id": "UTC", "locale": "en-US", "reduced_motion": "reduce"}


@pytest.fixture
def make_console(browser: Browser) -> Iterator[MakeConsole]:
    """All are closed at the end, and none may have faults."""
    made: list[Console] = []

    def make(broker: BrokerProcess, **options: Any) -> Console:
        context = browser.new_context(**(STANDARD | options))
        made.append(Console(context.new_page(), broker))
        return made[-1]

    yield make
    for console in made:
        console.page.context.close()
    assert [fault for console in made for fault in console.faults] == []


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """Its cache has the files of the console, so that pages load in half the time."""
    made = browser.new_context(**STANDARD)
    yield made
    made.close()


@pytest.fixture
def console(context: BrowserContext, shop: BrokerProcess) -> Iterator[Console]:
    console = Console(context.new_page(), shop)
    yield console
    console.page.close()
    assert console.faults == []


@pytest.fixture
def own_context(make_console: MakeConsole, shop: BrokerProcess) -> Console:
    """For tests that set the clock or go offline: both are of a context, not of a page."""
    return make_console(shop)
