from __future__ import annotations

import io
import json
import os
import subprocess
import sys

from infrastructure.observability.event_log import open_event_log


def test_a_json_line_has_time_level_event_and_fields() -> None:
    stream = io.BytesIO()
    open_event_log(stream, "json").info("started", listeners=["a:1"], folder=None)
    line = json.loads(stream.getvalue())
    assert list(line) == ["time", "level", "event", "listeners", "folder"]
    assert (line["level"], line["event"], line["listeners"]) == ("info", "started", ["a:1"])


def test_a_console_event_is_one_line_with_any_text() -> None:
    stream = io.BytesIO()
    open_event_log(stream, "console").warning("request", client_id="a\nb", api="Fetch", empty="")
    text = stream.getvalue().decode()
    assert text.count("\n") == 1
    assert text.endswith(" warning request  client_id='a\\nb'  api=Fetch  empty=''\n")


def test_console_lines_have_local_time_and_json_lines_utc() -> None:
    script = """if True:
        import sys
        from infrastructure.observability.event_log import open_event_log
        for log_format in ("console", "json"):
            log = open_event_log(sys.stdout.buffer, log_format)
            log.info("request", time="2026-01-31T23:34:30.831+00:00")
    """
    # The time zone of a process is global.
    environment = {**os.environ, "TZ": "NST+03:30", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-P", "-c", script]
    lines = subprocess.check_output(command, env=environment, text=True).splitlines()
    assert lines[0] == "20:04:30.831-03:30 info    request"
    assert json.loads(lines[1])["time"] == "2026-01-31T23:34:30.831+00:00"


def test_an_exception_has_its_traceback() -> None:
    stream = io.BytesIO()
    log = open_event_log(stream, "json")
    try:
        raise KeyError("gone")
    except KeyError as failure:
        log.error("request failed", error=failure)
    line = json.loads(stream.getvalue())
    assert line["error"] == "KeyError: 'gone'"
    assert "test_event_log.py" in line["traceback"]


def test_text_that_json_cannot_encode_is_escaped() -> None:
    stream = io.BytesIO()
    open_event_log(stream, "json").info("odd", name="\ud800", number=2**80)
    assert json.loads(stream.getvalue())["name"] == "'\\ud800'"


def test_a_broken_stream_is_ignored() -> None:
    class Full(io.RawIOBase):
        def write(self, _line: object) -> int:
            raise BrokenPipeError

    stream = Full()
    open_event_log(stream, "json").info("started")  # type: ignore[arg-type]
