"""A client in another language: a line in, a line out, one story at a time."""

from __future__ import annotations

import os
import selectors
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

PATIENCE_S = 60.0


def cache_folder() -> Path:
    """Where packages for tests stay between runs: outside the tree."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "ottla"


class LineProcess:
    def __init__(
        self, command: Sequence[str], errors: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self.errors = errors
        with errors.open("ab") as log:
            self.process = subprocess.Popen(
                list(command),
                env=dict(environment or os.environ),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        assert self.process.stdin
        assert self.process.stdout
        self.requests, self.responses = self.process.stdin, self.process.stdout
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(self.responses, selectors.EVENT_READ)
        self.unread = b""

    def request(self, line: str) -> str:
        self.requests.write(line.encode() + b"\n")
        self.requests.flush()
        while b"\n" not in self.unread:
            assert self.waiting.select(PATIENCE_S), f"no response: {self.complaints()}"
            piece = os.read(self.responses.fileno(), 1 << 16)
            assert piece, f"ended: {self.complaints()}"
            self.unread += piece
        response, _, self.unread = self.unread.partition(b"\n")
        return response.decode()

    def complaints(self) -> str:
        return self.errors.read_text(errors="replace")[-4_000:]

    def close(self) -> None:
        self.waiting.close()
        self.requests.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.responses.close()
