"""A relay before a PostgreSQL, on a Unix socket of its own, that fails when a test says so."""

from __future__ import annotations

import select
import shutil
import socket
import struct
import tempfile
import threading
from pathlib import Path

TIMEOUT_S = 20
_SOCKET = ".s.PGSQL.5432"


class PostgresRelay:
    """Each fault is armed, and `wait` returns when it has happened."""

    def __init__(self, server_folder: Path) -> None:
        self.lead_to(server_folder)
        # Short: socket paths have a length limit.
        self.folder = Path(tempfile.mkdtemp(prefix="ottla-re-"))
        self._path = str(self.folder / _SOCKET)
        self._listening: socket.socket | None = None
        self._relayed: set[_Relayed] = set()
        self._not_noticed: list[socket.socket] = []
        self._changing = threading.RLock()
        self._happened = threading.Event()
        self._refusals = 0
        self._before_response: int | None = None
        self._at_request = False
        self._loses_requests = self._loses_responses = False
        self._passes = threading.Event()
        self._passes.set()
        self.accept()

    def lead_to(self, server_folder: Path) -> None:
        """New connections, from now on."""
        self._server = str(server_folder / _SOCKET)

    # ---- faults

    def refuse(self) -> None:
        """New connections, from now on."""
        if self._listening is not None:
            listening, self._listening = self._listening, None
            Path(self._path).unlink()
            listening.shutdown(socket.SHUT_RDWR)
            listening.close()

    def accept(self) -> None:
        if self._listening is None:
            self._listening = socket.socket(socket.AF_UNIX)
            self._listening.bind(self._path)
            self._listening.listen(100)
            threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def end_next(self, connections: int) -> None:
        """Accepts so many, and closes them at once."""
        with self._changing:
            self._refusals = connections
            self._happened.clear()

    def cut(self, is_noticed: bool = True) -> None:
        """All connections; the server may not notice."""
        with self._changing:
            for one in self._relayed:
                if not is_noticed:
                    self._not_noticed.append(one.server)
                one.cut(is_noticed)

    def cut_at_request(self) -> None:
        """With the next message of a client, which the server does not get."""
        with self._changing:
            self._at_request = True
            self._happened.clear()

    def cut_at_response(self, responses: int = 0) -> None:
        """After so many responses to statements, instead of the next one."""
        with self._changing:
            self._before_response = responses
            self._happened.clear()

    def lose(self, requests: bool = False, responses: bool = False) -> None:
        """Without a word, until `pass_all`; `wait` for the first one."""
        with self._changing:
            self._loses_requests, self._loses_responses = requests, responses
            self._happened.clear()

    def hold(self) -> None:
        """What is sent arrives after `pass_all`."""
        self._passes.clear()

    def pass_all(self) -> None:
        self._passes.set()
        with self._changing:
            self._loses_requests = self._loses_responses = self._at_request = False
            self._before_response = None
            self._refusals = 0

    def wait(self) -> None:
        assert self._happened.wait(TIMEOUT_S), "the fault did not happen"

    def close(self) -> None:
        self._passes.set()
        self.refuse()
        self.cut()
        for one in self._not_noticed:
            one.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- in threads

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            with self._changing:
                ended = self._refusals > 0
                self._refusals -= ended
                if ended:
                    self._happened.set()
            try:
                if ended:
                    raise ConnectionError
                server.connect(self._server)
            except OSError:
                client.close()
                server.close()
                continue
            with self._changing:
                relayed = _Relayed(client, server)
                self._relayed.add(relayed)
            threading.Thread(target=self._run, args=(relayed,), daemon=True).start()

    def _run(self, relayed: _Relayed) -> None:
        both = {relayed.client: relayed.server, relayed.server: relayed.client}
        try:
            while True:
                for source in select.select(list(both), (), ())[0]:
                    data = source.recv(1 << 16)
                    if not data or self._is_cut(relayed, source is relayed.client, data):
                        return
                    self._passes.wait()
                    if not self._is_lost(source is relayed.client):
                        both[source].sendall(data)
        except OSError:
            pass
        finally:
            with self._changing:
                self._relayed.discard(relayed)
                relayed.client.close()
                if relayed.server not in self._not_noticed:
                    relayed.server.close()

    def _is_cut(self, relayed: _Relayed, is_request: bool, data: bytes) -> bool:
        with self._changing:
            if is_request:
                relayed.requested(data)
                if self._at_request and relayed.is_started:
                    self._at_request = False
                    self._happened.set()
                    return True
            elif self._before_response is not None and relayed.responded():
                self._before_response -= 1
                if self._before_response < 0:
                    self._before_response = None
                    self._happened.set()
                    return True
        return False

    def _is_lost(self, is_request: bool) -> bool:
        with self._changing:
            lost = self._loses_requests if is_request else self._loses_responses
            if lost:
                self._happened.set()
            return lost


class _Relayed:
    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client = client
        self.server = server
        self.is_started = False
        self._data = b""
        self._executes = False

    def requested(self, data: bytes) -> None:
        """Looks at the messages of the client."""
        self._data += data
        while True:
            prefix = 1 if self.is_started else 0
            if len(self._data) < prefix + 4:
                return
            [length] = struct.unpack_from(">i", self._data, prefix)
            if len(self._data) < prefix + length:
                return
            self._executes |= self.is_started and self._data[:1] in (b"E", b"Q")
            # An SSLRequest or GSSENCRequest is not the startup.
            self.is_started = self.is_started or length != 8
            self._data = self._data[prefix + length :]

    def responded(self) -> bool:
        """Whether the server responds to a statement that was executed."""
        executes, self._executes = self._executes, False
        return executes

    def cut(self, is_noticed: bool) -> None:
        for one in (self.client, self.server) if is_noticed else (self.client,):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:  # it is cut already
                pass
