from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.bench.flamegraph import WIDTH, svg
from tests.bench.where_time_goes import groups, parse, readable

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
        (RUN, "session, dispatch, flusher"),
        (RUN + "handle (interfaces/kafka/handlers/produce.py:87)", "handlers"),
        (COMMIT, "infrastructure"),
        ("uv__run_idle (loop-watcher.c:68)", "event loop (uvloop), interpreter"),
    ],
)  # fmt: skip
def test_a_sample_goes_to(stack: str, group: str) -> None:
    assert groups(parse(f"{LOOP}{stack.rstrip(';')} 3\n")) == [(group, 1.0)]


def test_shares_are_of_all_samples_and_lines_of_one_function_are_one_frame() -> None:
    raw = f"{LOOP}{RUN.rstrip(';')} 1\n{LOOP}{RUN.replace('150', '151').rstrip(';')} 2\nno line\n"
    assert readable(parse(raw)) == {
        ("uv_run (core.c)", "Session._run (interfaces/kafka/connections/session.py)"): 3
    }


def test_a_flame_graph_is_wide_where_the_time_went() -> None:
    picture = ElementTree.fromstring(svg({("a", "b<c>"): 3, ("a",): 1, ("d",): 0}, "a & b"))
    widths = {
        group[0].text: float(group[1].attrib["width"])
        for group in picture.iter("{http://www.w3.org/2000/svg}g")
    }
    assert widths == {"a: 100.0%": WIDTH, "b<c>: 75.0%": WIDTH * 0.75}
