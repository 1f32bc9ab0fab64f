"""Texts of records, groups, clients and configs are text in the page, never markup."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from playwright.sync_api import Page, expect

from tests.e2e.admin.console.conftest import Console, MakeConsole, console_broker
from tests.e2e.broker_process import BrokerProcess

#: Each sets a variable of the page if any of it is parsed as markup or code.
PAYLOADS = (
    '<img src=x onerror="window.harmed=1">',
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


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    folder = tmp_path_factory.mktemp("evil")
    with console_broker(folder, "--set", f"broker.rack={PAYLOADS[0]}") as broker:
        servers = {"bootstrap.servers": broker.bootstrap, "client.id": EVIL[:200]}
        producer = Producer(servers)
        for payload in (*PAYLOADS, EVIL):
            producer.produce("evil", payload, key=payload, headers=[(payload, payload.encode())])
        assert producer.flush(30) == 0
        del producer  # it would try to reconnect for ever after the test
        reading = {"group.id": EVIL_GROUP, "auto.offset.reset": "earliest"}
        consumer = Consumer({**servers, **reading, "enable.auto.commit": False})
        consumer.subscribe(["evil"])
        message = consumer.poll(30)
        assert message is not None and not message.error()
        consumer.commit(offsets=[TopicPartition("evil", 0, 2)], asynchronous=False)
        yield broker
        consumer.close()


@pytest.fixture
def console(make_console: MakeConsole, evil: BrokerProcess) -> Console:
    return make_console(evil)


def unharmed(page: Page) -> None:
    assert page.evaluate("window.harmed === undefined && ({}).harmed === undefined")
    for element in ("main img", "main script", "main iframe", "main [onerror], main [onload]"):
        assert page.locator(element).count() == 0
    links = page.evaluate("[...document.links].map((link) => link.protocol)")
    assert set(links) <= {"http:"}


def test_records_are_text_in_every_form(console: Console) -> None:
    page = console.open("#/topics/evil?from=oldest", "evil")
    expect(page.locator("tr.pressable")).to_have_count(len(PAYLOADS) + 1)
    unharmed(page)
    for number in range(len(PAYLOADS) + 1):
        page.locator("tr.pressable").nth(number).click()
        record = page.locator(".record")
        expect(record).to_contain_text("Headers 1")
        for form in record.get_by_role("button", name="Text").all():
            form.click()
        expected = (*PAYLOADS, EVIL)[number]
        assert record.get_by_label("Value", exact=True).text_content() == expected
        unharmed(page)
        page.locator("tr.pressable").nth(number).click()


def test_records_are_text_where_they_are_replayed_and_watched(console: Console) -> None:
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
        ("#/configs?q=broker.rack", PAYLOADS[0]),
    ):
        page = console.open(place)
        expect(page.locator("main")).to_contain_text(words)
        unharmed(page)
    page.goto(console.home + "#/requests?api=OffsetCommit")
    page.locator("tr[data-row] button").first.click()
    expect(page.get_by_role("region", name="One request")).to_contain_text(PAYLOADS[1])
    unharmed(page)


@pytest.mark.long
def test_the_address_is_text(console: Console) -> None:
    for payload in PAYLOADS[:3]:
        word = quote(payload, safe="")
        for place in (f"#/topics/{word}", f"#/topics?q={word}", f"#/{word}", f"#/configs?q={word}"):
            unharmed(console.open(place))


def test_the_page_may_load_nothing_from_elsewhere_and_run_nothing_inline(console: Console) -> None:
    page = console.open("#/", "Overview")
    answer = page.request.get(console.home)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    refused = page.evaluate(
        """() => {
          const element = document.createElement('b')
          document.body.append(element)
          try { element.innerHTML = '<i>x</i>' } catch { /* and so it stays empty */ }
          try { element.setAttribute('onclick', 'window.harmed = 1') } catch { /* as good */ }
          element.click()
          return element.childElementCount === 0
        }"""
    )
    assert refused
    unharmed(page)
    # The browser reports what it refused.
    assert console.faults
    console.faults.clear()
