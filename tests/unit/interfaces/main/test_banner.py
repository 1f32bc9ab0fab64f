from __future__ import annotations

from pathlib import Path

import pytest

from interfaces.main.banner import banner
from interfaces.main.ready import ready_facts
from interfaces.main.settings.sources import load_settings
from interfaces.main.started import OpenListener, Started
from tests.fakes.settings import settings


def started(port: int = 19092, **values: str) -> Started:
    chosen = settings(**values)
    opened = [
        OpenListener(each, each.host or "0.0.0.0", port, chosen.broker) for each in chosen.listeners
    ]
    return Started(chosen, "1.2.3", "a-cluster", opened, "2 topics, 3 partitions")


def test_the_banner_names_addresses_storage_and_flush_policy() -> None:
    assert banner(started(storage="lmdb:///var/ottla")) == (
        "Ottla 1.2.3, cluster a-cluster\n"
        "\n"
        "  listening  PLAINTEXT localhost:19092 -> the address each client connects to\n"
        "  storage    lmdb:///var/ottla  (2 topics, 3 partitions)\n"
        "  flush      commit: acknowledged records are on disk and survive a power cut\n"
        "  try        kcat -b localhost:19092 -L\n"
        "\n"
        "Ctrl-C stops the broker.\n"
    )


def test_one_of_several_brokers_over_postgresql_says_so_and_how_many_copies_there_are() -> None:
    facts = started(storage="postgresql://me:secret@host/db")
    facts.has_standby = False
    text = banner(facts)
    assert "as its synchronous_commit says; no synchronous standby: there is one copy\n" in text
    assert "  cluster  " not in text
    facts.brokers, facts.has_standby = "broker 2, one of 3 over this store", True
    text = banner(facts)
    assert "as its synchronous_commit says\n" in text
    assert "\n  cluster    broker 2, one of 3 over this store\n" in text


def test_the_admin_address_is_in_the_banner_and_the_ready_file() -> None:
    facts = started(storage="memory://")
    assert "admin" not in banner(facts)
    assert ready_facts(facts)["admin"] == []
    facts.admin.append("127.0.0.1:8082")
    assert "\n  admin      http://127.0.0.1:8082\n" in banner(facts)
    assert "\n  rest api   http://127.0.0.1:8082/docs\n" in banner(facts)
    assert ready_facts(facts)["admin"] == ["127.0.0.1:8082"]


@pytest.mark.parametrize("address", ["0.0.0.0:8082", "[::]:8082", "192.0.2.1:8082"])
def test_an_admin_address_beyond_loopback_has_a_warning(address: str) -> None:
    facts = started()
    facts.admin += ["127.0.0.1:1", "[::1]:2"]
    assert "!!" not in banner(facts)
    facts.admin.append(address)
    text = banner(facts)
    assert f"\n  admin      http://{address}\n" in text
    assert text.count("!!") == 1
    assert f"  !! THE ADMIN API AT {address} HAS NO TLS" in text
    assert ready_facts(facts)["admin"][-1] == address


def test_the_offset_store_is_named_without_secrets() -> None:
    text = banner(started(storage="lmdb:///var/ottla", offsets="postgresql://me:hunter2@host/db"))
    assert "\n  offsets    postgresql://me:***@host/db\n" in text
    assert "hunter2" not in text
    assert "\n  offsets    sqlite:///var/ottla/offsets.db\n" in banner(
        started(storage="lmdb:///var/ottla", offsets="sqlite://")
    )


def test_weaker_flush_policies_name_the_effect_of_a_power_cut() -> None:
    assert "flushed every 250 ms: " in banner(started(flush="interval", flush_interval_ms="250"))
    assert "a power cut may damage the whole store" in banner(started(flush="os"))


def test_memory_storage_has_a_warning() -> None:
    text = banner(started(storage="memory://"))
    assert "  !! MEMORY STORAGE: DATA IS LOST ON EXIT\n" in text
    assert "flush" not in text


@pytest.mark.parametrize(
    "flush, meaning",
    [
        ("commit", "PostgreSQL flushes acknowledged records as its synchronous_commit says"),
        (
            "os",
            "PostgreSQL flushes acknowledged records later: a crash of its machine loses those of "
            "up to 0.6 s",
        ),
    ],
)
def test_a_store_in_postgresql_lasts(flush: str, meaning: str) -> None:
    facts = started(storage="postgresql://me:hunter2@host/db", flush=flush)
    text = banner(facts)
    assert "\n  storage    postgresql://me:***@host/db  (2 topics, 3 partitions)\n" in text
    assert f"\n  flush      {flush}: {meaning}\n" in text
    assert "!!" not in text
    ready = ready_facts(facts)
    assert (ready["data"], ready["storage"]) == (None, "postgresql://me:***@host/db")


def test_advertising_loopback_on_an_open_listener_has_a_warning() -> None:
    loopback = "PLAINTEXT://localhost:9092"
    text = banner(started(listeners=":9092", advertised_listeners=loopback))
    assert "0.0.0.0:19092 -> localhost:9092" in text
    assert "!! LISTENER PLAINTEXT IS OPEN TO EVERY ADDRESS" in text
    assert "!!" not in banner(started(listeners=":9092"))
    assert "!!" not in banner(started(advertised_listeners=loopback))


def test_the_settings_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=2")
    facts = started()
    facts.settings = load_settings({}, {}, file)
    assert f"  settings   {file}\n" in banner(facts)


def test_the_ready_facts_hold_real_ports_and_absolute_folders() -> None:
    facts = ready_facts(
        started(
            listeners="A://:0,B://[::1]:0",
            advertised_listeners="B://example.org:0",
            log_dirs="relative",
        )
    )
    assert facts["bootstrap_servers"] == "127.0.0.1:19092"
    names = ("name", "bind", "host", "port", "advertised")
    assert [tuple(one[name] for name in names) for one in facts["listeners"]] == [
        ("A", "", "0.0.0.0", 19092, None),
        ("B", "::1", "::1", 19092, "example.org:19092"),
    ]
    assert facts["data"] == str(Path.cwd() / "relative")
    assert facts["storage"] == f"lmdb://{facts['data']}"
