from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import lmdb
import pytest
import yaml

from infrastructure.storage.lmdb.keys import KEY
from tests.e2e.admin.cli.conftest import Ottla
from tests.e2e.broker_process import BrokerProcess, environment


@pytest.fixture
def cli() -> Ottla:
    """Needs no broker."""
    return Ottla("127.0.0.1:1")


def verified(cli: Ottla, folder: Path, code: int) -> list[dict[str, str]]:
    found: list[dict[str, str]] = yaml.safe_load(
        cli.run("storage", "verify", str(folder), "-o", "yaml", code=code).out
    )
    return found


def problems(cli: Ottla, folder: Path) -> str:
    return " ".join(
        f"{one['where']}: {one['what']}"
        for one in verified(cli, folder, 1)
        if one["level"] == "problem"
    )


class Damage:
    """Damages a store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def change(self, database: bytes, work: Callable[..., object]) -> None:
        with lmdb.Environment(str(self.folder), max_dbs=8) as environment:
            opened = environment.open_db(database, create=False)
            with environment.begin(write=True, db=opened) as txn:
                work(txn)


def test_a_store_is_verified_dumped_copied_and_compacted(
    store: Path, cli: Ottla, tmp_path: Path
) -> None:
    folder = store
    info = json.loads(cli.run("storage", "info", str(folder), "-o", "json").out)
    assert [(p["topic"], p["partition"], p["end_offset"]) for p in info["partitions"]] == [
        ("orders", 0, 0),
        ("orders", 1, 4),
    ]
    assert info["committed_offsets"] == 1

    found = verified(cli, folder, 0)
    assert {one["level"] for one in found} == {"ok", "note"}
    counted = {one["where"]: one["what"] for one in found}
    assert counted["batches"] == "2 partitions, 2 batches, 4 records"
    assert (counted["configs"], counted["groups"]) == ("of 0 brokers and 0 groups", "1 groups")
    assert found[0]["where"] == "power"

    dumped = cli.run("storage", "dump", str(folder), "-t", "orders", "-p", "1", "--records").lines
    assert dumped[0] == "Dumping orders-1"
    assert dumped[1].startswith("baseOffset: 0 lastOffset: 2 count: 3 baseSequence: 0 ")
    assert dumped[1].endswith(" isvalid: true")
    assert dumped[2].endswith("headerKeys: [] key: a payload: 1")
    assert dumped[5].startswith("baseOffset: 3 lastOffset: 3 count: 1 ")
    assert dumped[6].endswith(f"payload: {'x' * 50}")
    lines = cli.run("storage", "dump", str(folder), "--output", "json", "--records").lines
    assert [one["value"] for line in lines for one in json.loads(line)["records"]] == [
        *("1", "2", "3"),
        "x" * 50,
    ]

    copy = tmp_path / "copy"
    cli.run("storage", "copy", str(folder), str(copy))
    assert "2 partitions, 2 batches, 4 records" in str(verified(cli, copy, 0))
    cli.run("storage", "copy", str(folder), str(copy), code=1)
    cli.run("storage", "compact", str(copy))
    verified(cli, copy, 0)
    with BrokerProcess(
        tmp_path / "again", arguments=["--data", str(copy)], engine="default"
    ) as again:
        ottla = Ottla(again.bootstrap)
        assert ottla.run("consume", "orders", "-e").lines == ["1", "2", "3", "x" * 50]
        [row] = ottla.run("group", "describe", "readers").rows
        assert row[:6] == ["readers", "orders", "1", "2", "4", "2"]
        for command in ("info", "verify", "dump", "compact"):
            refused = cli.run("storage", command, str(copy), code=1)
            assert str(again.pid) in refused.errors


_COPY_AND_DIE = """
import os, pathlib, signal, sys
from interfaces.cli.storage.copy import _Copying
from interfaces.main.__main__ import main

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv.pop(1) == "before the rows":
    _Copying.rows = lambda copying, _: (copying.commit(), die())
else:
    rename = pathlib.Path.rename
    pathlib.Path.rename = lambda path, to: die() if path.is_dir() else rename(path, to)
sys.argv[1:1] = ["storage", "copy"]
main()
"""


@pytest.mark.parametrize("moment", ["before the rows", "when it is whole"])
def test_a_killed_copy_leaves_no_store_and_is_repeated(
    store: Path, cli: Ottla, tmp_path: Path, moment: str
) -> None:
    folder, copy, partial = store, tmp_path / "copy", tmp_path / "copy.partial"
    killed = subprocess.run(
        [sys.executable, "-P", "-c", _COPY_AND_DIE, moment, str(folder), str(copy)],
        env=environment(),
    )
    assert killed.returncode == -signal.SIGKILL
    assert (partial / "data.mdb").exists()
    assert not copy.exists()
    cli.run("storage", "info", str(copy), code=1)
    cli.run("storage", "copy", str(folder), str(copy))
    assert not partial.exists()
    assert "2 partitions, 2 batches, 4 records" in str(verified(cli, copy, 0))


def test_a_copy_changes_no_other_folder(store: Path, cli: Ottla, tmp_path: Path) -> None:
    folder, partial = store, tmp_path / "copy.partial"
    partial.mkdir()
    (partial / "notes.txt").write_text("mine")
    refused = cli.run("storage", "copy", str(folder), str(tmp_path / "copy"), code=1)
    assert str(partial) in refused.errors
    assert [file.name for file in partial.iterdir()] == ["notes.txt"]
    assert not (tmp_path / "copy").exists()


def test_compaction_returns_free_pages(cli: Ottla, tmp_path: Path) -> None:
    with BrokerProcess(tmp_path) as broker:
        ottla = Ottla(broker.bootstrap)
        ottla.run("produce", "-t", "large", stdin=(b"x" * 900 + b"\n") * 5000)
        ottla.run("produce", "-t", "small", stdin=b"stays\n")
        ottla.run("topic", "delete", "large")
        assert broker.terminate() == 0
    # What is left of a deletion is dropped by the next start.
    with broker:
        assert broker.terminate() == 0
    data = broker.folder / "data"
    before = (data / "data.mdb").stat().st_size
    cli.run("storage", "compact", str(data))
    assert (data / "data.mdb").stat().st_size < before / 4
    assert "1 batches, 1 records" in str(verified(cli, data, 0))


def test_damage_is_found(store: Path, cli: Ottla, tmp_path: Path) -> None:
    whole = store

    def damaged(database: bytes, work: Callable[..., object]) -> Path:
        folder = tmp_path / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        Damage(folder).change(database, work)
        return folder

    def first_key(txn: lmdb.Transaction[bytes]) -> bytes:
        cursor = txn.cursor()
        assert cursor.first()
        return cursor.key()

    def flip(txn: lmdb.Transaction[bytes]) -> None:
        key = first_key(txn)
        value = bytearray(txn.get(key) or b"")
        value[-1] ^= 1
        txn.put(key, bytes(value))

    assert "orders-1: the batch at offset 0 has a wrong checksum" in problems(
        cli, damaged(b"batches", flip)
    )
    lost = damaged(b"batches", lambda txn: txn.delete(first_key(txn)))
    assert "orders-1: offsets 0 to 2 are missing" in problems(cli, lost)
    cut = damaged(b"batches", lambda txn: txn.put(first_key(txn), b"no batch" * 10))
    assert "orders-1: at offset 0" in problems(cli, cut)

    def mislead(txn: lmdb.Transaction[bytes]) -> None:
        key = first_key(txn)
        partition_id, _ = KEY.unpack(key)
        txn.put(KEY.pack(partition_id, 1), (3).to_bytes(8, "big"))

    assert "is not found by its timestamp" in problems(cli, damaged(b"timestamps", mislead))
    ahead = damaged(
        b"rows",
        lambda txn: txn.put(
            b"partitions\0" + (1).to_bytes(4, "big"), b'{"end":[9,0,8],"start":0,"size":0}'
        ),
    )
    assert "orders-1: the snapshot ends at offset 9" in problems(cli, ahead)
    unreadable = damaged(b"rows", lambda txn: txn.put(b"offsets\0nonsense", b"nonsense"))
    assert "offsets: " in problems(cli, unreadable)


def test_a_damaged_page_is_found_first(store: Path, cli: Ottla) -> None:
    folder = store
    with (folder / "data.mdb").open("r+b") as opened:
        opened.truncate(3 * 4096)
    assert "pages: " in problems(cli, folder)


@pytest.mark.parametrize("flush, words", [("interval", "newest flush"), ("os", "unreadable")])
def test_verify_prints_what_a_power_cut_could_have_caused(
    cli: Ottla, tmp_path: Path, flush: str, words: str
) -> None:
    with BrokerProcess(tmp_path, arguments=["--flush", flush]) as broker:
        Ottla(broker.bootstrap).run("produce", "-t", "orders", stdin=b"x\n")
        broker.kill()
    power = verified(cli, broker.folder / "data", 0)[0]
    assert power["where"] == "power"
    assert f"killed under flush={flush}" in power["what"]
    assert words in power["what"]


def test_reading_a_store_does_not_change_it(cli: Ottla, tmp_path: Path) -> None:
    with BrokerProcess(tmp_path, arguments=["--flush", "interval"]) as broker:
        Ottla(broker.bootstrap).run("produce", "-t", "orders", stdin=b"x\n")
        broker.kill()
    data = broker.folder / "data"

    def found() -> list[bytes]:
        return [(data / name).read_bytes() for name in ("data.mdb", "ottla.unsynced")]

    before = found()
    for command in ("info", "verify", "dump"):
        cli.run("storage", command, str(data))
    cli.run("storage", "copy", str(data), str(tmp_path / "copy"))
    assert found() == before
    assert "1 batches, 1 records" in str(verified(cli, tmp_path / "copy", 0))


def test_a_folder_without_a_store_is_not_changed(cli: Ottla, tmp_path: Path) -> None:
    for command in ("info", "verify", "dump", "compact"):
        cli.run("storage", command, str(tmp_path), code=1)
    assert list(tmp_path.iterdir()) == []


def test_a_store_without_its_records_is_valid(cli: Ottla, tmp_path: Path) -> None:
    with BrokerProcess(tmp_path) as broker:
        ottla = Ottla(broker.bootstrap)
        ottla.run("produce", "-t", "orders", stdin=b"x\ny\nz\n")
        ottla.run("consume", "orders", "-g", "readers", "-n", "3")
        ottla.run("topic", "trim", "orders", "-o", "3")
        assert broker.terminate() == 0
    found = verified(cli, broker.folder / "data", 0)
    assert "1 partitions, 0 batches" in str(found)
    assert "beyond the log end" not in str(found)


def test_a_store_without_its_oldest_records_is_valid(cli: Ottla, tmp_path: Path) -> None:
    with BrokerProcess(tmp_path) as broker:
        ottla = Ottla(broker.bootstrap)
        for number in range(3):
            ottla.run("produce", "-t", "orders", stdin=b"%d\nx\ny\n" % number)
        ottla.run("topic", "trim", "orders", "-o", "4")
        assert broker.terminate() == 0
    data = broker.folder / "data"
    verified(cli, data, 0)
    [partition] = json.loads(cli.run("storage", "info", str(data), "-o", "json").out)["partitions"]
    assert (partition["start_offset"], partition["end_offset"]) == (4, 9)
    copy = tmp_path / "copy"
    cli.run("storage", "copy", str(data), str(copy))
    verified(cli, copy, 0)
