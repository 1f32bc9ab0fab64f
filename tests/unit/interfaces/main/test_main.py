from __future__ import annotations

import json
from pathlib import Path

import pytest

from interfaces.embed import __version__
from interfaces.main.__main__ import main
from interfaces.main.arguments import parser, settings_given


def test_bare_ottla_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "usage: ottla" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words, has",
    {
        "config": "show", "topic": "describe", "topic config": "unset", "group": "seek",
        "cluster": "health", "perf": "e2e", "storage": "compact",
    }.items(),
)  # fmt: skip
def test_a_family_without_a_command_prints_its_help(
    words: str, has: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(words.split())
    assert exit_.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"usage: ottla {words} [-h] COMMAND")
    assert f"\n    {has} " in printed.err
    assert "error" not in printed.err


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--version"])
    assert exit_.value.code == 0
    assert capsys.readouterr().out == f"ottla {__version__}\n"


def test_options_are_settings_by_another_name_and_win_over_set() -> None:
    words = (
        "serve --listen :1 --listen OUT://[::1]:2 --data /d --flush os --log-requests all "
        "--set flush=commit --set num.partitions=2=3"
    )
    options = settings_given(parser().parse_args(words.split()))
    assert {name: (each.text, each.origin) for name, each in options.items()} == {
        "flush": ("os", "command line --flush"),
        "num.partitions": ("2=3", "command line --set"),
        "listeners": (":1,OUT://[::1]:2", "command line --listen"),
        "log.dirs": ("/d", "command line --data"),
        "log.requests": ("all", "command line --log-requests"),
    }


@pytest.mark.parametrize(
    "words, usage",
    [
        ("serve --set x", "ottla serve"),
        ("serve --dat /d", "ottla serve"),
        ("serve --port 9", "ottla serve"),
        ("config show --port 9", "ottla config show"),
        ("nope", "ottla"),
    ],
)
def test_invalid_arguments_exit_with_2_and_the_usage(
    words: str, usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(words.split())
    assert exit_.value.code == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{usage}: ") and line.endswith(f"(see {usage} --help)")


def test_config_show_prints_values_and_their_origins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ottla.toml"
    file.write_text('"num.partitions" = 2')
    monkeypatch.setenv("KAFKA_NODE_ID", "7")
    monkeypatch.setenv("KAFKA_PROCESS_ROLES", "broker")
    words = ["config", "show", "--config", str(file), "--flush", "os", "-o", "json"]
    assert main(words) == 0
    shown = capsys.readouterr()
    rows = json.loads(shown.out)
    assert rows["num.partitions"] == {"value": 2, "origin": f"file {file}"}
    assert rows["node.id"] == {"value": 7, "origin": "environment KAFKA_NODE_ID"}
    assert rows["flush"] == {"value": "os", "origin": "command line --flush"}
    assert rows["storage"] == {"value": "lmdb://", "origin": "default"}
    assert (
        shown.err
        == "ottla: settings with no effect here: process.roles (there are no KRaft controllers)\n"
    )


def test_what_config_show_prints_is_a_settings_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["config", "show", "--set", "num.partitions=5", "--set", 'broker.rack=a "b" \\ \x7f']
    assert main([*words, "--origin"]) == 0
    printed = capsys.readouterr().out
    assert "  # command line --set\n" in printed
    file = tmp_path / "ottla.toml"
    file.write_text(printed)
    assert main(["config", "show", "--config", str(file)]) == 0
    main(words)
    again, first = capsys.readouterr().out.split('"node.id"')[1:]
    assert again == first


def test_a_mistyped_option_does_not_show_the_password_of_its_url(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for words in (("--storag", "postgresql://me:hunter2@h/db"), ("--x=sqlite://me:hunter2@h/db",)):
        with pytest.raises(SystemExit):
            main(["serve", *words])
        assert "hunter2" not in capsys.readouterr().err
