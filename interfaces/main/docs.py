"""docs/cli.md, written from the parser: `python -m interfaces.main.docs`."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

from interfaces.main.arguments import parser

_HEAD = """\
# The command line

<!-- written by scripts/docs from the parser -->

In a checkout, `./scripts/serve` is `ottla serve`; `pip install .` installs the command.

`ottla serve` runs a broker. The commands for topics, records and groups work with **any Kafka
broker**, through confluent-kafka; `ottla storage` reads a data folder without one.

- **Output**: records and tables on stdout, everything else on stderr.
- **Exit codes**: 0 success, 1 failure (one line `ottla: ...` on stderr), 2 wrong arguments,
  130 interrupted, 141 broken pipe. Confirmations and progress bars are for terminals only;
  `NO_COLOR` removes colours.
- **Durations**: seconds, or with a unit: `500ms`, `30s`, `5m`, `1h`, `7d`.
- **Offsets**: `start` (or `earliest`), `end` (or `latest`), `47`, `+2`, `-3`, and `@` with a
  timestamp: milliseconds since 1970 (with 9 or 10 digits: seconds), `2026-01-31T12:00:00+01:00`, or
  `-1h` for an hour ago. A time without a zone is UTC, as in `kafka-consumer-groups --to-datetime`.
  Outside the log, the nearest offset counts; `topic trim` refuses an offset beyond the end.
- **No response**: after one second the checks of `ottla doctor` run. Where a retry cannot help (the
  port of another server, TLS, SASL, advertised addresses) the command ends at once; otherwise it
  waits for `--timeout`. `consume` and `cluster health -w` wait without a limit;
  `consume` ends if the broker cannot read the same offset for `--timeout`, and names it.
- **Clusters**: `ottla profile create prod -b kafka:9092 -X security.protocol=SASL_SSL
  -X 'sasl.password=${env:KAFKA_PASSWORD}'` names a cluster; the other commands use it until
  `ottla profile use` names another one, or with `--profile prod`. Values of `-X` may be
  `${env:NAME}` or `${file:PATH}`, so that no command line has a password; none is printed.
- **Completion**: `source <(ottla completion bash)`, `eval "$(ottla completion zsh)"`,
  `ottla completion fish | source`.

Options and arguments that several commands have:
"""
#: An option or argument of so many commands is described once.
_SEVERAL = 3
_SAME_OPTIONS = {"ottla config show": "ottla serve", "ottla topic tail": "ottla consume"}


def render() -> str:
    commands = list(_commands(parser(), "ottla"))
    counts = Counter(
        line
        for name, one in commands
        if name not in _SAME_OPTIONS
        for line in {*_arguments(one), *_options(one)}
    )
    common = {line for line, count in counts.items() if count >= _SEVERAL}
    families = Counter(_family(name) for name, _ in commands)
    lines = [_HEAD, *sorted(common)]
    family = ""
    for name, one in commands:
        hidden, text = common, _escaped(one.description or "")
        if other := _SAME_OPTIONS.get(name):
            hidden = common | set(_options(dict(commands)[other]))
            text += f" Has the options of `{other}`."
        if families[_family(name)] == 1:
            lines += ["", f"## {name}{_positionals(one)}", "", text, ""]
        else:
            if _family(name) != family:
                lines += ["", f"## {_family(name)}"]
            lines += ["", f"**`{name}{_positionals(one)}`**: {text}", ""]
        family = _family(name)
        lines += [line for line in (*_arguments(one), *_options(one)) if line not in hidden]
    return "\n".join(lines).replace("\n\n\n", "\n\n")


def _family(name: str) -> str:
    """`ottla topic` of `ottla topic config set`."""
    return " ".join(name.split()[:2])


def _commands(
    one: argparse.ArgumentParser, name: str
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    families = [a for a in one._actions if isinstance(a, argparse._SubParsersAction)]
    if not families:
        yield name, one
    for action in families:
        without_aliases = {id(child): word for word, child in reversed(action.choices.items())}
        for word, child in action.choices.items():
            if without_aliases[id(child)] != word:
                continue
            yield from _commands(child, f"{name} {word}")


def _positionals(one: argparse.ArgumentParser) -> str:
    words = []
    for action in one._actions:
        if not action.option_strings:
            name = _name(action)
            how_many = {"?": f"[{name}]", "*": f"[{name} ...]", "+": f"{name} ..."}
            words.append(f" {how_many.get(str(action.nargs), name)}")
    return "".join(words)


def _arguments(one: argparse.ArgumentParser) -> list[str]:
    return [
        f"- `{_name(action)}`: {_plain(action.help)}"
        for action in one._actions
        if action.help and not action.option_strings
    ]


def _options(one: argparse.ArgumentParser) -> list[str]:
    return [
        f"- {_spelt(action)}: {_plain(action.help or '')}{' (required)' * action.required}"
        for action in one._actions
        if action.option_strings and not isinstance(action, argparse._HelpAction)
    ]


def _spelt(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else f" {_name(action)}"
    return ", ".join(f"`{option}{value}`" for option in action.option_strings)


def _name(action: argparse.Action) -> str:
    if action.choices and action.metavar is None:
        return "|".join(map(str, action.choices))
    return str(action.metavar or action.dest)


def _plain(text: str) -> str:
    """A help text, which argparse formats with %."""
    return _escaped(text.replace("%%", "%"))


def _escaped(text: str) -> str:
    """For Markdown."""
    return text.replace("<", "\\<").replace("*", "\\*")


if __name__ == "__main__":
    print(render(), end="")
