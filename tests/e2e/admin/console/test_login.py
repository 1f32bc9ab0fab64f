"""The console of a broker with users."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.sync_api import expect

from tests.e2e.admin.console.conftest import ADMIN, MARKUP, MakeConsole
from tests.e2e.conftest import StartBroker

PASSWORD = "PaSs-of-ann-7301"
MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
USERS = (
    *("--set", "admin.authentication=users"),
    *("--set", f'admin.plain.sasl.jaas.config={MODULE} required user_ann="{PASSWORD}";'),
    *("--set", "connection.failed.authentication.delay.ms=0"),
    *("--set", "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
    *("--set", "super.users=User:ann"),
)


#: A page of another origin, whose requests have the cookie: browsers ignore ports there.
ATTACK = """<!doctype html><iframe id="frame" src="HOME"></iframe><script>
const body = '{"topic_name": "forged"}'
const send = (path, options) =>
  fetch('HOME' + path, { credentials: 'include', ...options })
    .then((got) => got.type, () => 'refused')
Promise.all([
  send('session', {}),
  send('topics', { method: 'POST', mode: 'no-cors', body }),
  send('topics', { method: 'POST', body, headers: { 'Content-Type': 'application/json' } }),
]).then((found) => (window.found = found))
</script>"""


@contextmanager
def serving(text: str) -> Iterator[str]:
    """A server with this page; returns its URL."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_other_pages_cannot_use_a_session_or_choose_it(
    start_broker: StartBroker, make_console: MakeConsole
) -> None:
    console = make_console(start_broker(*ADMIN, *USERS, engine="memory"))
    page, context = console.page, console.page.context
    name = f"ottla_session_{console.broker.admin.port}"
    chosen = "0" * 64
    context.add_cookies([{"name": name, "value": chosen, "url": console.home}])
    page.goto(console.home + "login")
    page.get_by_label("User").fill("ann")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Overview", exact=True).wait_for()
    [cookie] = [one for one in context.cookies() if one.get("name") == name]
    assert cookie.get("value") != chosen
    assert (cookie.get("httpOnly"), cookie.get("sameSite")) == (True, "Strict")

    with serving(ATTACK.replace("HOME", console.home)) as elsewhere:
        attack = context.new_page()
        attack.goto(elsewhere)
        attack.wait_for_function("window.found")
        assert attack.evaluate("window.found") == ["refused"] * 3
        assert attack.frames[1].locator("nav").count() == 0
        attack.close()
    topics = page.request.get(console.home + "topics").json()
    assert topics["data"] == []


def test_a_user_logs_in_and_out_and_sees_what_the_rights_allow(
    start_broker: StartBroker, make_console: MakeConsole
) -> None:
    console = make_console(start_broker(*ADMIN, *USERS, engine="memory"))
    page = console.page
    navigation = page.get_by_role("navigation")

    def log_in(user: str, password: str) -> None:
        page.get_by_label("User").fill(user)
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Log in").click()

    page.goto(console.home + "#/users")
    expect(page).to_have_url(re.compile("/login#/users$"))
    log_in("ann", "wrong")
    expect(page.get_by_role("alert")).to_contain_text("user or password is not valid")
    log_in("ann", PASSWORD)
    page.get_by_role("heading", name="Users", exact=True).wait_for()
    expect(page.locator(".user")).to_contain_text("ann")
    expect(navigation.get_by_role("link")).to_have_count(10)
    page.get_by_role("button", name="New user").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("User").fill(MARKUP)
    dialog.get_by_label("Password").fill(PASSWORD)
    dialog.get_by_role("button", name="Set password").click()
    expect(page.locator(".toast").last).to_contain_text("is set.")
    assert page.evaluate("document.cookie") == ""

    page.get_by_role("button", name="Log out").click()
    expect(page).to_have_url(re.compile("/login$"))
    assert page.request.get(console.home + "topics").status == 401
    log_in(MARKUP, PASSWORD)
    expect(page.locator(".user")).to_contain_text(MARKUP)
    page.get_by_role("heading", name="Topics", exact=True).wait_for()
    expect(navigation.get_by_role("link")).to_have_text(["Topics", "Groups", "Transactions"])
    assert page.evaluate("window.harmed") is None

    page.goto(console.home + "docs#topics")
    page.get_by_role("heading", name="REST API", exact=True).wait_for()
    page.context.clear_cookies()
    page.reload()
    expect(page).to_have_url(re.compile(r"/login\?docs#topics$"))
    log_in("ann", PASSWORD)
    page.get_by_role("heading", name="REST API", exact=True).wait_for()
