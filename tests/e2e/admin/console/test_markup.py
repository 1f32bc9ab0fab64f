"""Records, and names of groups, clients and configs, are text in the page, never markup."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import MARKUP, Console
from tests.e2e.broker_process import BrokerProcess

#: Each sets a variable of the page if any of it is parsed as markup or code.
PAYLOADS = (
    MARKUP,
    "<script>window.harmed=1</script>",
    '"><svg onload="window.harmed=1">',
    "<iframe srcdoc='<script>parent.harmed=1</script>'></iframe>",
    "javascript:window.harmed=1",
    "'-window.harmed=1-'{{constructor.constructor('window.harmed=1')()}}",
    "</textarea><script>window.harmed=1</script>",
    '{"a": "<b onclick=window.harmed=1>", "__proto__": {"harmed": 1}}',
)
EVIL = "".join(PAYLOADS)
EVIL_GROUP = PAYLOADS[0]
#: The overview shows the groups with the most lag, of all that tests have left.
MUCH_LAG = 5000


@pytest.fixture(scope="module", autouse=True)
def evil(shop: BrokerProcess) -> Iterator[None]:
    """Topics, a client and a group with a member and much lag."""
    servers = {"bootstrap.servers": shop.bootstrap, "client.id": EVIL[:200]}
    producer = Producer(servers)
    for payload in (*PAYLOADS, EVIL):
        producer.produce("evil", payload, key=payload, headers=[(payload, payload.encode())])
    for _ in range(MUCH_LAG):
        producer.produce("evil-lag", b"")
    assert producer.flush(30) == 0
    reading = {"group.id": EVIL_GROUP, "auto.offset.reset": "earliest"}
    consumer = Consumer({**servers, **reading, "enable.auto.commit": False})
    consumer.subscribe(["evil"])
    message = consumer.poll(30)
    assert message is not None and not message.error()
    offsets = [TopicPartition("evil", 0, 2), TopicPartition("evil-lag", 0, 0)]
    consumer.commit(offsets=offsets, asynchronous=False)
    yield
    consumer.close()
    admin = AdminClient(servers)
    admin.delete_consumer_groups([EVIL_GROUP])[EVIL_GROUP].result(30)
    for deleted in admin.delete_topics(["evil", "evil-lag"]).values():
        deleted.result(30)


def unharmed(page: Page) -> None:
    assert page.evaluate("window.harmed === undefined && ({}).harmed === undefined")
    for element in ("main img", "main script", "main iframe", "main [onerror], main [onload]"):
        assert page.locator(element).count() == 0
    links = page.evaluate("[...document.links].map((link) => link.protocol)")
    assert set(links) <= {"http:"}


def test_records_are_text_in_every_form(console: Console) -> None:
    page = console.open("#/topics/evil?from=oldest", "evil")
    rows, records = page.locator("tr.pressable"), page.locator(".record")
    expect(rows).to_have_count(len(PAYLOADS) + 1)
    unharmed(page)
    for opened, row in enumerate(rows.all(), 1):
        row.click()
        # A record that opens moves the rows below it: the next click would miss its row.
        expect(records).to_have_count(opened)
    expect(records.first).to_contain_text("Headers 1")
    unharmed(page)
    for form in records.get_by_role("button", name="Text").all():
        form.click()
    values = records.get_by_label("Value", exact=True)
    assert values.all_text_contents() == [*PAYLOADS, EVIL]
    unharmed(page)


def test_replayed_and_new_records_are_text(console: Console) -> None:
    page = console.open(f"#/topics/evil/produce?replay=0:{len(PAYLOADS)}", "evil")
    expect(page.get_by_label("Value", exact=True)).to_have_value(EVIL)
    expect(page.get_by_label("Name of the header")).to_have_value(EVIL)
    unharmed(page)
    page = console.open("#/topics/evil?from=live", "evil")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    producer = Producer({"bootstrap.servers": console.broker.bootstrap})
    producer.produce("evil", EVIL, key=EVIL)
    assert producer.flush(30) == 0
    expect(page.locator("tr.pressable")).to_have_count(1)
    unharmed(page)


def test_names_of_groups_clients_and_configs_are_text(console: Console) -> None:
    for place, words in (
        ("#/", EVIL_GROUP),
        ("#/groups", EVIL_GROUP),
        (f"#/groups/{quote(EVIL_GROUP, safe='')}", EVIL_GROUP),
        ("#/topics/evil/consumers", EVIL_GROUP),
        ("#/connections", PAYLOADS[1]),
        ("#/requests?api=OffsetCommit", PAYLOADS[1]),
        ("#/configs?q=broker.rack", MARKUP),
    ):
        page = console.open(place)
        expect(page.locator("main")).to_contain_text(words)
        unharmed(page)
    console.open("#/requests?api=OffsetCommit")
    page.locator("tr[data-row] button").first.click()
    expect(page.get_by_role("region", name="One request")).to_contain_text(PAYLOADS[1])
    unharmed(page)


@pytest.mark.long
def test_the_address_is_text(console: Console) -> None:
    for payload in PAYLOADS[:3]:
        word = quote(payload, safe="")
        for place in (f"#/topics/{word}", f"#/topics?q={word}", f"#/{word}", f"#/configs?q={word}"):
            unharmed(console.open(place))


def test_the_page_loads_nothing_from_other_hosts_and_runs_nothing_inline(console: Console) -> None:
    page = console.open("#/", "Overview")
    refused = page.evaluate(
        """() => {
          const element = document.createElement('b')
          document.body.append(element)
          try { element.innerHTML = '<i>x</i>' } catch { /* it stays empty */ }
          try { element.setAttribute('onclick', 'window.harmed = 1') } catch { /* fine, too */ }
          element.click()
          return element.childElementCount === 0
        }"""
    )
    assert refused
    unharmed(page)
    # The browser reports the refusals.
    assert console.faults
    console.faults.clear()
