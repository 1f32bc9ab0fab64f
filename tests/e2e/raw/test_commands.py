"""`ottla raw` and `ottla demo --raw`, each in a process of its own."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from tests.e2e.broker_process import command, environment
from tests.e2e.program import Program
from tests.e2e.raw.conftest import RawBroker
from tests.e2e.raw.stream import framed, positions

PATIENCE_S = 50.0
CLOSED = "ottla: the broker closed the connection: its log has the reason"


def ottla(*arguments: str, stdin: str = "", folder: Path | None = None) -> tuple[int, str, str]:
    ended = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def test_lines_are_produced_and_consumed(raw: RawBroker, end: int) -> None:
    address = f"localhost:{raw.port}"
    tail = command("raw", "consume", address, str(end), "-n", "4")
    with Program(tail, environment()) as running:
        lines = ["one", "", "zw\u00f6lf", "without an end of the line"]
        code, out, errors = ottla("raw", "produce", address, stdin="\n".join(lines))
        assert (code, errors) == (0, "")
        places = positions([line.encode() for line in lines], end)
        assert [int(offset) for offset in out.split()] == places[:-1]
        running.wait_until(lambda printed: len(printed) == len(lines))
        assert running.lines == lines
        assert running.process.wait(PATIENCE_S) == 0
    assert ottla("raw", "consume", address, str(places[2]), "-n", "1") == (0, "zw\u00f6lf\n", "")


def test_a_start_that_is_refused_ends_with_one_line(raw: RawBroker, end: int) -> None:
    code, out, errors = ottla("raw", "consume", f"localhost:{raw.port}", str(end + 1))
    assert (code, out) == (1, "")
    assert errors == f"{CLOSED}\n"


def test_a_record_that_is_cut_off_is_not_printed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with Program(command("raw", "consume", address), environment()) as running:
            with server.accept()[0] as connection:
                connection.sendall(framed(b"whole") + framed(b"cut off")[:-1])
                connection.shutdown(socket.SHUT_WR)
                assert running.process.wait(PATIENCE_S) == 1
            running.wait_for(CLOSED)
            assert running.lines == ["whole", CLOSED]


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("127.0.0.1:1", str(1 << 64)), "more than 64 bits"),
        (("127.0.0.1:1", "--ca", "no-file"), "no-file: No such file or directory"),
        (("127.0.0.1:1", "--certificate", "no-file"), "no-file: No such file or directory"),
    ],
)
def test_wrong_arguments_are_usage_errors(words: tuple[str, ...], error: str) -> None:
    code, out, errors = ottla("raw", "consume", *words)
    assert (code, out) == (2, "")
    assert error in errors.splitlines()[-1]


def test_the_tour_succeeds_and_leaves_no_files(tmp_path: Path) -> None:
    code, out, errors = ottla("demo", "--raw", folder=tmp_path)
    assert (code, errors) == (0, "")
    assert "   line 4 -> 30\n" in out
    assert out.endswith(
        "   line 4\n   line 5\n\nDone. To run one: ottla serve --raw localhost:12000\n"
    )
    assert list(tmp_path.iterdir()) == []
