"""Wrong options and arguments: exit code 2, and stderr names the wrong one. No broker is needed."""

from __future__ import annotations

import pytest

from interfaces.main.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ("produce", "no topic"),
        ("produce -t x -k a -K :", "-K"),
        ("produce -t x -K : -f %v", "-K"),
        ("produce -t x -f %q", "%q"),
        ("produce -t x -T yesterday", "yesterday"),
        ("produce x --json-lines -k a", "--json-lines"),
        ("produce x --keep-partitions", "--keep-partitions"),
        ("consume x --grep (", "--grep"),
        ("consume x --where total", "'total'"),
        ("consume x -o middle", "middle"),
        ("consume x -o yaml", "yaml"),
        ("consume x -g g -o 47", "group seek"),
        ("consume x -g g -p 0", "-p"),
        ("consume x -f %q", "%q"),
        ("consume x -f %v -o json", "-f"),
        ("consume x --timeout 0", "'0'"),
        ("topic list (", "'('"),
        ("group list (", "'('"),
        ("group seek g --to sideways", "sideways"),
        ("group seek g", "--to"),
        ("group seek g --to 1 --from-file f", "--to"),
        ("group seek g --from-file f -t x", "-t"),
        ("group describe a b --export", "--export"),
        ("offsets x --at +2", "+2"),
        ("topic trim x -o somewhere", "somewhere"),
        ("generate prometheus --admin foo", "'foo'"),
        ("generate prometheus --admin off", "'off'"),
        ("generate prometheus --admin :8082", "':8082'"),
        ("generate prometheus --admin a:1,b:2", "'a:1,b:2'"),
        ("generate prometheus --admin a:0", "'a:0'"),
        ("generate prometheus --admin http://a:1", "'http://a:1'"),
        ("requests --admin a:x", "a:x"),
        ("topic list -b a:b", "'b'"),
        ("cluster unregister -- -1", "-1"),
        ("cluster unregister 2147483648", "2147483648"),
        ("topc list", "did you mean topic?"),
        ("topic lst", "did you mean list?"),
        ("--profile x topic list", "--profile: options go after the command"),
        ("topic --profile=x list", "--profile: options go after the command"),
        ("--verison", "did you mean --version?"),
        ("topic list --interal", "did you mean --internal?"),
        ("topic list -X sasl.password=${env:NO_SUCH}", "sasl.password"),
        ("topic list --profile none", "profile none"),
        ("serve --set num.partitions=0", "num.partitions = '0' (command line --set)"),
        ("serve --flush sometimes", "flush = 'sometimes'"),
        ("serve --storage redis://", "storage = 'redis://'"),
        ("serve --listen nowhere", "listeners = 'nowhere'"),
        ("serve --log-requests some", "log.requests = 'some'"),
        ("serve --config /no/such/file", "/no/such/file"),
    ],
)
def test_a_wrong_argument_is_named_and_the_exit_code_is_2(
    arguments: str, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code: object = main(arguments.split(" "))
    except SystemExit as usage:
        code = usage.code
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert word in printed.err.splitlines()[-1]
