from __future__ import annotations

import pytest

from tests.bench.where_time_goes import groups, parse

LOOP = "main (interfaces/main/__main__.py:21);run_forever (loop.c:33192);uv_run (core.c:464);"
READ = "uv__io_poll (linux.c:1546);uv__read (stream.c:1063);"
RUN = "Session._run (interfaces/kafka/connections/session.py:150);"
COMMIT = (
    "Commits._begin (application/state/commits.py:87);LmdbCommit.commit (infrastructure/a.py:33);"
)


@pytest.mark.parametrize(
    ("stack", "group"),
    [
        (READ + "read (libc.so.6)", "socket read"),
        ("uv__io_poll (linux.c:1452);epoll_pwait (libc.so.6)", "epoll"),
        (RUN + "write (loop.c:1);UVStream_write (loop.c:2);write (libc.so.6)", "socket write"),
        (
            COMMIT + "trans_commit (cpython.c:4903);_mdb_txn_commit (mdb.c:1);writev (libc.so.6)",
            "LMDB commit",
        ),
        (RUN + "trans_put (cpython.c:1);mdb_put (mdb.c:2);mdb_page_get (mdb.c:3)", "LMDB put"),
        (RUN + "decode (<ProduceRequest v9 decoder>:31)", "wire (codec, framing)"),
        (RUN + "decode (<ProduceRequest v9 decoder>:31);s_unpack (_struct.c:1)",
         "wire (codec, framing)"),
        (RUN, "session, dispatch"),
        (RUN + "handle (interfaces/kafka/handlers/produce.py:87)", "handlers"),
        (COMMIT, "infrastructure"),
        ("uv__run_idle (loop-watcher.c:68)", "event loop (uvloop), interpreter"),
    ],
)  # fmt: skip
def test_a_sample_goes_to(stack: str, group: str) -> None:
    assert groups(parse(f"{LOOP}{stack.rstrip(';')} 3\n")) == [(group, 1.0)]


def test_lines_without_a_count_are_skipped() -> None:
    assert groups(parse(f"{LOOP}{RUN.rstrip(';')} 1\nno line\n")) == [("session, dispatch", 1.0)]
