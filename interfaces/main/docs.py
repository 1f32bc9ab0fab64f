"""docs/cli.md, written from the parser: `python -m interfaces.main.docs`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from interfaces.main.arguments import parser

_HEAD = """\
# The command line

Written by `python -m interfaces.main.docs` from the parser; change that, not this. In a checkout,
`./scripts/serve` is `ottla serve`; the rest comes with `pip install .`.

`ottla serve` runs a broker. All that looks at topics, records and groups works against **any Kafka
broker**, over the wire, through confluent-kafka; `ottla storage` opens a data folder without one.

- **Which broker**: `-b`, else `-X bootstrap.servers=...`, else `$OTTLA_BOOTSTRAP`, else
  `localhost:9092`. `-X` takes any option of librdkafka: `-X security.protocol=SSL`.
- **Output**: tables for eyes, `-o json` or `-o yaml` for programs; `consume -o` takes `json` as
  well as an offset. Records and rows go to stdout, everything else to stderr.
- **Exit codes**: 0 done, 1 could not be done (one line `ottla: ...` on stderr), 2 not understood,
  130 interrupted, 141 nobody reads on. Nothing is asked unless stdin is a terminal.
- **Help**: `-h` anywhere; `ottla topic` alone says which commands there are, and ends with 2.
- **Waiting** ends after `--timeout`, except where waiting is what is wanted: `consume` without
  `-n`, `-e` or `--idle`, and `cluster health -w`. A time is a number of seconds, or has its unit:
  `500ms`, `30s`, `5m`, `1h`, `7d`.
- **No answer**: after one second the checks of `ottla doctor` run. Where waiting is of no use (a
  port of something else, TLS or SASL that the client does not speak, advertised addresses that
  cannot be reached) the command ends at once with their line; otherwise it waits on.
- **Positions**: `start`, `end`, `47`, `+2`, `-3` and `@` with a moment: milliseconds since 1970 (or
  seconds, with 9 or 10 digits), `2026-01-31T12:00:00Z`, or `-1h` for an hour ago. Without a zone it
  is the machine's. Outside of what there is, the nearest that is there is taken; `topic trim`
  refuses what is beyond the end. `earliest` and `latest` are understood as well.
- **Completion**: `source <(ottla completion bash)`, the same with `zsh`;
  `ottla completion fish | source`. Commands, options and the words that options take; tried by hand
  in zsh 5.9 and fish 3.6, and tested with bash.
- Progress bars and questions are for terminals only; `NO_COLOR` takes the colour away.
"""


def render() -> str:
    return "\n".join([_HEAD, *_commands(parser(), "ottla")])


def _commands(one: argparse.ArgumentParser, name: str) -> Iterator[str]:
    for action in one._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {each.dest: each.help for each in action._choices_actions}
            for word, child in action.choices.items():
                yield from _command(child, f"{name} {word}", helps.get(word) or "")


def _command(one: argparse.ArgumentParser, name: str, short: str) -> Iterator[str]:
    if any(isinstance(action, argparse._SubParsersAction) for action in one._actions):
        yield from _commands(one, name)
        return
    yield f"## {name}\n"
    yield f"{_plain(one.description or f'{short[0].upper()}{short[1:]}.')}\n"
    yield f"    {name}{_positionals(one)}\n"
    rows = [
        f"| {_spelt(action)} | {_said(action)} |"
        for action in one._actions
        if not isinstance(action, argparse._HelpAction) and (action.help or action.option_strings)
    ]
    if rows:
        yield "| argument | means |\n| --- | --- |"
        yield "\n".join(rows) + "\n"


def _positionals(one: argparse.ArgumentParser) -> str:
    words = [" [OPTIONS]"]
    for action in one._actions:
        if not action.option_strings:
            name = _name(action)
            how_many = {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}
            words.append(f" {how_many.get(str(action.nargs), name)}")
    return "".join(words)


def _spelt(action: argparse.Action) -> str:
    if not action.option_strings:
        return f"`{_name(action)}`"
    value = "" if action.nargs == 0 else f" {_name(action)}"
    return ", ".join(f"`{option}{value}`" for option in action.option_strings)


def _name(action: argparse.Action) -> str:
    if action.choices and action.metavar is None:
        return "|".join(map(str, action.choices)).replace("|", "\\|")
    return str(action.metavar or action.dest).replace("|", "\\|")


def _said(action: argparse.Action) -> str:
    said = _plain(action.help or "").replace("|", "\\|")
    return f"{said} (has to be given)" if action.option_strings and action.required else said


def _plain(text: str) -> str:
    """As argparse shows it, and not taken for Markdown."""
    return text.replace("%%", "%").replace("<", "\\<").replace("*", "\\*")


if __name__ == "__main__":
    print(render(), end="")
