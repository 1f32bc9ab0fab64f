"""A process that has imported the whole broker once and forks one per run: a start costs a few
milliseconds instead of half a second.

It reads orders as lines of JSON on standard input, and writes events to standard output: started,
ready, ended. When its input ends, it kills the broker and ends.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import sys
import traceback
from typing import Any

# Imported before the first fork, for all runs.
import cramjam  # noqa: F401
import psycopg  # noqa: F401
import uvloop  # noqa: F401

import infrastructure.storage.files.log_store
import infrastructure.storage.lmdb.state_store
import infrastructure.storage.postgresql.opening
import infrastructure.storage.sql.offset_database
import infrastructure.storage.sql.offset_repository  # noqa: F401
from domain.configs.broker import BrokerConfig
from interfaces.kafka.requests.apis import APIS
from interfaces.kafka.requests.dispatch import Routes
from interfaces.main import (
    __main__,  # noqa: F401
    arguments,  # noqa: F401
    serve,
)
from interfaces.main.container.app import App  # noqa: F401
from tests.crash import file_passages  # noqa: F401
from tests.crash.child import Plan, run

#: Compiled before the first fork: the versions of these clients.
VERSIONS = {
    "Produce": 7,
    "Fetch": 4,
    "ListOffsets": 1,
    "InitProducerId": 0,
    "DeleteRecords": 1,
    "OffsetCommit": 9,
    "OffsetFetch": 8,
    "Metadata": 12,
    "JoinGroup": 7,
    "CreateTopics": 2,
}


def say(event: str, **facts: Any) -> None:
    os.write(1, json.dumps({"event": event, **facts}).encode() + b"\n")


class Nursery:
    def __init__(self) -> None:
        self.pid: int | None = None
        self.rest = b""

    def loop(self) -> None:
        wakes, woken = os.pipe()
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        with selectors.DefaultSelector() as selector:
            selector.register(0, selectors.EVENT_READ)
            selector.register(wakes, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fd == wakes:
                        os.read(wakes, 64)
                    elif not self.obey():
                        return
                self.reap()

    def obey(self) -> bool:
        data = os.read(0, 1 << 16)
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "signal" in order:
                if self.pid is not None:
                    os.kill(self.pid, order["signal"])
            else:
                self.start(Plan(**order))
        if not data and self.pid is not None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        return bool(data)

    def start(self, plan: Plan) -> None:
        pid = os.fork()
        if pid == 0:
            be_the_broker(plan)
        self.pid = pid
        say("started", pid=pid)

    def reap(self) -> None:
        if self.pid is None:
            return
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid:
            self.pid = None
            say("ended", code=os.waitstatus_to_exitcode(status))


def be_the_broker(plan: Plan) -> None:
    code = 70
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(plan.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        os.dup2(log, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        announce_ready()
        code = run(plan)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 70
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def announce_ready() -> None:
    """Replaces the ready file, without polling."""
    started = serve._start

    async def announced(settings: Any, container: Any, log: Any) -> Any:
        found = await started(settings, container, log)
        raw = [int(one.rpartition(":")[2]) for one in found.raw]
        say("ready", port=found.listeners[0].port, raw=raw)
        return found

    serve._start = announced


def warm_up() -> None:
    routes = Routes(BrokerConfig({}).request_elements_max)
    for api in APIS:
        for version in {api.max_version, VERSIONS.get(api.title, api.max_version)}:
            assert routes.find(api.key, version) is not None


if __name__ == "__main__":
    warm_up()
    # Frozen: forks share these objects, and their garbage collections skip them.
    gc.collect()
    gc.freeze()
    say("born")
    Nursery().loop()
