"""The console in a real browser, over a broker with data.

OTTLA_TEST_BROWSER names a browser that is based on Chromium.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from tests.e2e.admin.console import sample
from tests.e2e.broker_process import NOTHING_EXPIRES, BrokerProcess

PATIENCE_MS = 20_000
ADMIN = ("--admin", "127.0.0.1:0")
#: Sets a variable of the page if it is parsed as markup.
MARKUP = '<img src=x onerror="window.harmed=1">'


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


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """The broker of a shop. Tests change only topics and groups that they create."""
    arguments = [*ADMIN, *NOTHING_EXPIRES, "--set", f"broker.rack={MARKUP}"]
    with BrokerProcess(tmp_path_factory.mktemp("console"), "memory", arguments) as broker:
        sample.fill(broker.bootstrap)
        yield broker
        assert broker.terminate() == 0, broker.log()


class Console:
    """A page of the console, and the errors that the browser reports in it."""

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
        # The page itself shows refused requests.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.faults.append(message.text)

    def open(self, place: str = "#/", heading: str | None = None) -> Page:
        """Waits until the view is drawn and nothing is loading."""
        if self.page.url.startswith(self.home):
            # Handled at once, so that the earlier view is gone, also at the same address.
            self.page.evaluate(
                """(place) => {
                  history.pushState(null, '', place)
                  window.dispatchEvent(new HashChangeEvent('hashchange'))
                }""",
                place,
            )
        else:
            self.page.goto(self.home + place)
        if heading is not None:
            self.page.get_by_role("heading", name=heading, exact=True, level=1).wait_for()
        self.settled()
        return self.page

    def settled(self) -> None:
        self.page.locator("main .view > *").first.wait_for()
        expect(self.page.locator("main .loading")).to_have_count(0)

    def refuse(self, path: str, status: int = 503, body: Any = None) -> None:
        """Requests to this path get this response from now on."""
        refusal = {"error_code": 50302, "message": "not now", "correlation_id": "refused-1"}
        self.page.route(path, lambda route: route.fulfill(status=status, json=body or refusal))

    def has_history(self, path: str, ago_s: Sequence[int] = (20, 10), **values: float) -> None:
        """The broker's history at this path has samples with these values."""
        now_ms = int(time.time() * 1000)
        samples = [{"at_ms": now_ms - 1000 * ago, **values} for ago in ago_s]
        self.page.route(path, lambda route: route.fulfill(json={"data": samples}))

    def chart(self, title: str) -> Locator:
        heading = self.page.get_by_role("heading", name=title, exact=True)
        return self.page.locator("figure", has=heading)


MakeConsole = Callable[..., Console]


SCREEN = {"width": 1280, "height": 720}
STANDARD = {"timezone_id": "UTC", "locale": "en-US", "reduced_motion": "reduce"}


@pytest.fixture(scope="session")
def shared_context(browser: Browser) -> Iterator[BrowserContext]:
    """A page in a new context takes twice as long."""
    context = browser.new_context(**STANDARD)
    yield context
    context.close()


@pytest.fixture
def make_console(browser: Browser, shared_context: BrowserContext) -> Iterator[MakeConsole]:
    """Pages with browser contexts of their own (options, clock, network), or in the shared one."""
    consoles: list[Console] = []

    def make(broker: BrokerProcess, shared: bool = False, **options: Any) -> Console:
        context = shared_context if shared else browser.new_context(**(STANDARD | options))
        consoles.append(Console(context.new_page(), broker))
        return consoles[-1]

    yield make
    for console in consoles:
        console.page.close()
        if console.page.context is not shared_context:
            console.page.context.close()
    assert [fault for console in consoles for fault in console.faults] == []


@pytest.fixture(scope="session")
def shared_console(shared_context: BrowserContext, shop: BrokerProcess) -> Console:
    return Console(shared_context.new_page(), shop)


@pytest.fixture
def console(shared_console: Console) -> Iterator[Console]:
    """One page for all tests, because loading a page takes longer than most of them."""
    shared_console.faults.clear()
    yield shared_console
    page = shared_console.page
    page.unroute_all()
    page.set_viewport_size(SCREEN)
    page.keyboard.press("Escape")
    shared_console.open("#/nowhere")
    assert shared_console.faults == []
