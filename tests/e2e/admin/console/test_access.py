"""Users, ACLs and quotas in the console."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.e2e.admin.console.conftest import ADMIN, MARKUP, MakeConsole
from tests.e2e.conftest import StartBroker

PASSWORD = "PaSs-of-ann-7301"
AUTHORIZED = (
    *("--set", "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer"),
    *("--set", "super.users=User:ANONYMOUS"),
)


def test_access_is_given_asked_about_and_taken_away(
    start_broker: StartBroker, make_console: MakeConsole
) -> None:
    console = make_console(start_broker(*ADMIN, *AUTHORIZED, engine="memory"))
    page = console.open("#/users", "Users")
    dialog, toast = page.get_by_role("dialog"), page.locator(".toast").last
    expect(page.locator("main")).to_contain_text("There are no users")
    for name in ("ann", MARKUP):
        page.get_by_role("button", name="New user").click()
        dialog.get_by_label("User").fill(name)
        dialog.get_by_label("Password").fill(PASSWORD)
        dialog.get_by_role("button", name="Set password").click()
        expect(toast).to_contain_text(f"The password of {name} is set.")
    expect(page.locator("tbody")).to_contain_text("SCRAM-SHA-256 (4096 iterations)")
    assert PASSWORD not in page.url + page.content()
    page.get_by_role("button", name=f"Delete {MARKUP}").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(toast).to_contain_text("is deleted.")

    page = console.open("#/acls", "ACLs")
    page.get_by_role("button", name="New ACL").click()
    dialog.get_by_label("Principal").fill("ann")
    dialog.get_by_label("Name", exact=True).fill("orders")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text("no colon")
    dialog.get_by_label("Principal").fill("User:ann")
    dialog.get_by_role("button", name="Create").click()
    expect(page.locator("tbody")).to_contain_text("TOPIC orders")
    page.get_by_role("button", name="May …?").click()
    dialog.get_by_label("Principal").fill("User:ann")
    dialog.get_by_label("Name", exact=True).fill("orders")
    dialog.get_by_role("button", name="Ask").click()
    expect(dialog).to_contain_text("yes this ACL decides")
    dialog.get_by_label("Operation").select_option("WRITE")
    dialog.get_by_role("button", name="Ask").click()
    expect(dialog).to_contain_text("no no ACL allows User:ann Write of orders")
    dialog.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete: User:ann").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.locator("main")).to_contain_text("There are no ACLs")

    page = console.open("#/quotas", "Quotas")
    page.get_by_role("button", name="New quota").click()
    dialog.get_by_label("User").fill("ann")
    dialog.get_by_label("Value").fill("1.5")
    dialog.get_by_role("button", name="Set").click()
    expect(dialog.get_by_role("alert")).to_contain_text("cannot be a fractional value")
    dialog.get_by_label("Value").fill("1000000")
    dialog.get_by_role("button", name="Set").click()
    expect(page.locator("tbody")).to_contain_text("1,000,000")
    page.get_by_role("button", name="Remove producer_byte_rate of user ann").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(page.locator("main")).to_contain_text("There are no quotas")
    assert page.evaluate("window.harmed") is None


def test_without_an_authorizer_the_page_of_acls_says_so(
    start_broker: StartBroker, make_console: MakeConsole
) -> None:
    page = make_console(start_broker(*ADMIN, engine="memory")).open("#/acls", "ACLs")
    expect(page.locator(".trouble")).to_contain_text("authorizer.class.name")
