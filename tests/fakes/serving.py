"""A program with the command line of `ottla serve`, for tests of launchers."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from pathlib import Path

from interfaces.embed.child import exit_with_stdin


def main() -> int:
    parser = argparse.ArgumentParser(prog="ottla")
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("--exit-with-stdin", action="store_true")
    parser.add_argument("--listen")
    parser.add_argument("--ready-file", type=Path)
    parser.add_argument("--admin")
    parser.add_argument("--data")
    parser.add_argument("--storage")
    parser.add_argument("--log-format")
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    if options.exit_with_stdin:
        exit_with_stdin()
    settings = dict(setting.split("=", 1) for setting in options.set)

    if settings.get("refuse") == "true":
        print("ottla: refuse = 'true' (command line --set) is not allowed", file=sys.stderr)
        return 3
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    print(json.dumps(vars(options), default=str), flush=True)
    print(json.dumps(sorted(name for name in os.environ if "_" in name)), flush=True)
    if "never_ready" not in settings:
        ready: dict[str, object] = {"pid": os.getpid(), "bootstrap_servers": "127.0.0.1:19092"}
        ready["admin"] = ["127.0.0.1:18082"] if options.admin == "127.0.0.1:0" else []
        ready["admin_urls"] = [f"http://{one}" for one in ready["admin"]]
        written = options.ready_file.with_suffix(".new")
        written.write_text(json.dumps(ready), "utf-8")
        written.rename(options.ready_file)
    # Short waits: a signal handler runs between them.
    while not stopped.wait(0.01):
        pass
    if "farewell" in settings:
        Path(settings["farewell"]).write_text("drained", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
