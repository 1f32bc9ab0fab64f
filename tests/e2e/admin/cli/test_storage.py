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
from tests.e2e.admin.cli.conftest import Ottla, create_filled
from tests.e2e.admin.conftest import commit_offset
from tests.e2e.broker_process import BrokerProcess, environment, wait_until
from tests.e2e.raw_client import batch


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


def test_a_store_is_verified_dumped_copied_and_compacted(
    store: Path, cli: Ottla, tmp_path: Path
) -> None:
    folder = str(store)
    info = json.loads(cli.run("storage", "info", folder, "-o", "json").out)
    assert [(p["topic"], p["partition"], p["end_offset"]) for p in info["partitions"]] == [
        ("orders", 0, 0),
        ("orders", 1, 4),
    ]
    assert info["committed_offsets"] == 1
    assert info["file_bytes"] > info["free_bytes"] >= 0

    found = verified(cli, store, 0)
    assert {one["level"] for one in found} == {"ok", "note"}
    counted = {one["where"]: one["what"] for one in found}
    assert counted["batches"] == "2 partitions, 2 batches, 4 records"
    assert (counted["configs"], counted["groups"]) == (
        "0 broker configs, 0 group configs",
        "1 groups",
    )
    assert found[0]["where"] == "power"

    dumped = cli.run("storage", "dump", folder, "-t", "orders", "-p", "1", "--records").lines
    assert dumped[0] == "Dumping orders-1"
    assert dumped[1].startswith("baseOffset: 0 lastOffset: 2 count: 3 baseSequence: 0 ")
    assert dumped[1].endswith(" isvalid: true")
    assert dumped[2].endswith("headerKeys: [] key: a payload: 1")
    assert dumped[5].startswith("baseOffset: 3 lastOffset: 3 count: 1 ")
    assert dumped[6].endswith(f"payload: {'x' * 50}")
    lines = cli.run("storage", "dump", folder, "--output", "json", "--records").lines
    values = [one["value"] for line in lines for one in json.loads(line)["records"]]
    assert values == ["1", "2", "3", "x" * 50]

    copy = tmp_path / "copy"
    cli.run("storage", "copy", folder, str(copy))
    assert "2 partitions, 2 batches, 4 records" in str(verified(cli, copy, 0))
    cli.run("storage", "copy", folder, str(copy), code=1)
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


def test_a_copy_into_files_is_valid_and_serves(store: Path, cli: Ottla, tmp_path: Path) -> None:
    copy, again = tmp_path / "copy", tmp_path / "again"
    cli.run("storage", "copy", str(store), f"files://{copy}")
    assert (copy / "orders-1" / "00000000000000000000.log").exists()
    assert "2 partitions, 2 batches, 4 records" in str(verified(cli, copy, 0))
    info = json.loads(cli.run("storage", "info", str(copy), "-o", "json").out)
    assert info["storage"] == f"files://{copy}"
    assert info["file_bytes"] > (copy / "data.mdb").stat().st_size
    compacted = cli.run("storage", "compact", str(copy)).out
    assert "the rows; segments have no free space" in compacted
    arguments = ["--storage", f"files://{copy}"]
    with BrokerProcess(tmp_path / "files", arguments=arguments, engine="default") as broker:
        ottla = Ottla(broker.bootstrap)
        assert ottla.run("consume", "orders", "-e").lines == ["1", "2", "3", "x" * 50]
        [row] = ottla.run("group", "describe", "readers").rows
        assert row[:6] == ["readers", "orders", "1", "2", "4", "2"]
        ottla.run("produce", "-t", "orders", "-p", "1", stdin=b"y\n")
        refused = cli.run("storage", "copy", str(copy), str(again), code=1)
        assert str(broker.pid) in refused.errors
        assert broker.terminate() == 0
    cli.run("storage", "copy", str(copy), f"lmdb://{again}")
    assert "2 partitions, 3 batches, 5 records" in str(verified(cli, again, 0))


_COPY_AND_DIE = """
import os, pathlib, signal, sys
from interfaces.cli.storage.copy import _Copying
from interfaces.main.__main__ import main

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv.pop(1) == "before the rows":
    _Copying.rows = lambda copying, *_: (copying.commit(), die())
else:
    rename = pathlib.Path.rename
    pathlib.Path.rename = lambda path, to: die() if path.is_dir() else rename(path, to)
sys.argv[1:1] = ["storage", "copy"]
main()
"""


@pytest.mark.parametrize("engine", ["lmdb", "files"])
@pytest.mark.parametrize("moment", ["before the rows", "before the rename"])
def test_a_killed_copy_leaves_no_store_and_can_be_repeated(
    store: Path, cli: Ottla, tmp_path: Path, moment: str, engine: str
) -> None:
    copy, partial = tmp_path / "copy", tmp_path / "copy.partial"
    killed = subprocess.run(
        [sys.executable, "-P", "-c", _COPY_AND_DIE, moment, str(store), f"{engine}://{copy}"],
        env=environment(),
    )
    assert killed.returncode == -signal.SIGKILL
    assert (partial / "data.mdb").exists()
    assert not copy.exists()
    cli.run("storage", "info", str(copy), code=1)
    cli.run("storage", "copy", str(store), f"{engine}://{copy}")
    assert not partial.exists()
    assert "2 partitions, 2 batches, 4 records" in str(verified(cli, copy, 0))


def test_a_copy_changes_no_other_folder(store: Path, cli: Ottla, tmp_path: Path) -> None:
    partial = tmp_path / "copy.partial"
    partial.mkdir()
    (partial / "notes.txt").write_text("mine")
    refused = cli.run("storage", "copy", str(store), str(tmp_path / "copy"), code=1)
    assert str(partial) in refused.errors
    assert [file.name for file in partial.iterdir()] == ["notes.txt"]
    assert not (tmp_path / "copy").exists()


def test_compaction_returns_free_pages(cli: Ottla, tmp_path: Path) -> None:
    with BrokerProcess(tmp_path) as broker:
        create_filled(broker, "small", [b"stays"])
        create_filled(broker, "large", [])
        with broker.connect() as client:
            for _ in range(5):
                client.produce("large", batch([b"x" * 900] * 1000))
        Ottla(broker.bootstrap).run("topic", "delete", "large")
        assert broker.terminate() == 0
    # The next start drops the rest of a deleted topic.
    with broker:
        assert broker.terminate() == 0
    data = broker.folder / "data"
    before = (data / "data.mdb").stat().st_size
    cli.run("storage", "compact", str(data))
    assert (data / "data.mdb").stat().st_size < before / 4
    assert "1 batches, 1 records" in str(verified(cli, data, 0))


def test_damage_is_found(store: Path, cli: Ottla, tmp_path: Path) -> None:
    def damaged(database: bytes, change: Callable[..., object]) -> Path:
        folder = tmp_path / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(store, folder)
        with lmdb.Environment(str(folder), max_dbs=8) as environment:
            opened = environment.open_db(database, create=False)
            with environment.begin(write=True, db=opened) as txn:
                change(txn)
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

    def move_timestamp(txn: lmdb.Transaction[bytes]) -> None:
        key = first_key(txn)
        partition_id, _ = KEY.unpack(key)
        txn.put(KEY.pack(partition_id, 1), (3).to_bytes(8, "big"))

    assert "is not found by its timestamp" in problems(cli, damaged(b"timestamps", move_timestamp))
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
    with (store / "data.mdb").open("r+b") as opened:
        opened.truncate(3 * 4096)
    assert "pages: " in problems(cli, store)


@pytest.fixture
def killed(tmp_path: Path) -> Callable[[str], Path]:
    """The data folder of a broker with this flush policy that was killed."""

    def kill(flush: str) -> Path:
        with BrokerProcess(tmp_path, arguments=["--flush", flush]) as broker:
            create_filled(broker, "orders", [b"x"])
            broker.kill()
        return broker.folder / "data"

    return kill


def test_verify_reports_the_possible_effects_of_a_power_cut(
    cli: Ottla, killed: Callable[[str], Path]
) -> None:
    power = verified(cli, killed("os"), 0)[0]
    assert power["where"] == "power"
    assert "killed with flush=os" in power["what"]
    assert "unreadable" in power["what"]


def test_reading_a_store_does_not_change_it(
    cli: Ottla, killed: Callable[[str], Path], tmp_path: Path
) -> None:
    data = killed("interval")

    def content() -> list[bytes]:
        return [(data / name).read_bytes() for name in ("data.mdb", "ottla.unsynced")]

    before = content()
    power = verified(cli, data, 0)[0]
    assert "killed with flush=interval" in power["what"]
    assert "newest flush" in power["what"]
    for command in ("info", "dump"):
        cli.run("storage", command, str(data))
    cli.run("storage", "copy", str(data), str(tmp_path / "copy"))
    assert content() == before
    assert "1 batches, 1 records" in str(verified(cli, tmp_path / "copy", 0))


def test_a_folder_without_a_store_is_not_changed(cli: Ottla, tmp_path: Path) -> None:
    for command in ("info", "verify", "dump", "compact"):
        cli.run("storage", command, str(tmp_path), code=1)
    assert list(tmp_path.iterdir()) == []


def test_a_store_with_deleted_records_is_valid(cli: Ottla, tmp_path: Path) -> None:
    with BrokerProcess(tmp_path) as broker:
        ottla = Ottla(broker.bootstrap)
        create_filled(broker, "emptied", [b"x", b"y", b"z"])
        commit_offset(broker, "readers", "emptied", 3)
        ottla.run("topic", "trim", "emptied", "-o", "3")
        create_filled(broker, "shortened", [])
        records = batch([b"0", b"x", b"y"])
        with broker.connect() as client:
            for _ in range(3):
                client.produce("shortened", records)
            ottla.run("topic", "trim", "shortened", "-o", "4")
            # A job removes whole batches; a stop would interrupt it.
            wait_until(lambda: client.log_bytes("emptied") == 0)
            wait_until(lambda: client.log_bytes("shortened") == 2 * len(records))
        assert broker.terminate() == 0
    data, copy = broker.folder / "data", tmp_path / "copy"
    found = str(verified(cli, data, 0))
    assert "2 partitions, 2 batches" in found
    assert "beyond the log end" not in found
    partitions = json.loads(cli.run("storage", "info", str(data), "-o", "json").out)["partitions"]
    assert [(one["start_offset"], one["end_offset"]) for one in partitions] == [(3, 3), (4, 9)]
    cli.run("storage", "copy", str(data), str(copy))
    verified(cli, copy, 0)
