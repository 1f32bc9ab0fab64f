"""The command line parser."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from domain.configs.passwords import without_password
from interfaces.embed import __version__
from interfaces.main.settings.origin import COMMAND_LINE, Given
from interfaces.suggestions import did_you_mean
from interfaces.terminal.values import key_value
from interfaces.terminal.words import Commands

_LISTEN = "where clients connect (localhost:9092); repeatable with another NAME"

# Options for settings.
_OPTIONS = {
    "admin": "admin.listeners",
    "raw_topic": "raw.topic",
    "data": "log.dirs",
    "storage": "storage",
    "flush": "flush",
    "log_requests": "log.requests",
    "log_format": "log.format",
    "testing": "testing",
}


def parser(only_serve: bool = False) -> argparse.ArgumentParser:
    """`only_serve`: without the arguments of the other commands, which take time at each start."""
    top = _parser("ottla", "A Kafka-compatible broker.")
    top.add_argument("--version", action="version", version=f"ottla {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_subparser)
    serve = _command(commands, "serve", "run the broker")
    _add_settings(serve)
    serve.add_argument(
        "--secure",
        action="store_true",
        help="on an empty data folder: make certificates and the user admin, and turn on SASL_SSL "
        "and ACLs for this and later starts",
    )
    serve.add_argument(
        "--read-only",
        action="store_true",
        help="of files://: change nothing in the folder; records are refused, and what groups "
        "commit is forgotten",
    )
    serve.add_argument(
        "--skip-unsupported",
        action="store_true",
        help="of the log folder of a Kafka: serve it without what cannot be served",
    )
    serve.add_argument("--ready-file", metavar="FILE", help="written when the broker is ready")
    serve.add_argument(
        "--exit-with-stdin",
        action="store_true",
        help="stop when stdin, a pipe of the program that started the broker, ends",
    )
    if only_serve:
        return top
    from interfaces.cli.arguments import add_commands
    from interfaces.spark.arguments import add_commands as add_spark

    config = commands.add_parser("config", help="print the settings")
    config_commands = config.add_subparsers(
        dest="config_command", metavar="COMMAND", required=True, parser_class=_subparser
    )
    show = _command(config_commands, "show", "print every setting and its value")
    _add_settings(show)
    show.add_argument("--origin", action="store_true", help="print the source of each value")
    show.add_argument(
        *("-o", "--output"),
        choices=("toml", "table", "json", "yaml"),
        default="toml",
        help="output format (toml)",
    )
    demo = _command(commands, "demo", "a short tour: broker, producer and consumer")
    demo.add_argument("--raw", action="store_true", help="over a raw listener, without a client")
    generate = _command(
        commands, "generate", "print a dashboard, alerts, or a file that runs the broker"
    )
    generate.add_argument("what", choices=("grafana", "prometheus", "alerts", "systemd", "compose"))
    generate.add_argument(
        "--admin",
        metavar="HOST:PORT",
        default="localhost:8082",
        help="address of the metrics (localhost:8082)",
    )
    add_commands(commands)
    add_spark(commands)
    completion = _command(commands, "completion", "print the completion script of a shell")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="bash|zsh|fish")
    return top


def settings_given(arguments: argparse.Namespace) -> dict[str, Given]:
    """The settings of the arguments; options override --set."""
    found = {
        name: Given(text, f"{COMMAND_LINE} --set") for name, text in arguments.set_settings or ()
    }
    if arguments.listen:
        found["listeners"] = Given(",".join(arguments.listen), f"{COMMAND_LINE} --listen")
    if arguments.raw:
        found["raw.listeners"] = Given(",".join(arguments.raw), f"{COMMAND_LINE} --raw")
    for option, name in _OPTIONS.items():
        text = getattr(arguments, option)
        if text is not None:
            found[name] = Given(text, f"{COMMAND_LINE} --{option.replace('_', '-')}")
    return found


def _parser(prog: str, description: str) -> argparse.ArgumentParser:
    return _Parser(prog=prog, description=description, allow_abbrev=False)


def _command(commands: Commands, name: str, short: str) -> argparse.ArgumentParser:
    added: argparse.ArgumentParser = commands.add_parser(
        name, help=short, description=f"{short[0].upper()}{short[1:]}."
    )
    return added


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line, without the usage."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        words = sys.argv[1:] if args is None else args
        option = words[0].partition("=")[0] if words else ""
        known = self._option_string_actions
        if self._subparsers is not None and option.startswith("-") and option not in known:
            meant = did_you_mean(option, known)
            self.error(f"unknown option {option}: options go after the command{meant}")
        return super().parse_known_args(args, namespace)

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if isinstance(action, argparse._SubParsersAction) and value not in action.choices:
            self.error(f"unknown command {value}{did_you_mean(str(value), action.choices)}")
        super()._check_value(action, value)


class _subparser(_Parser):
    def __init__(self, **facts: object) -> None:
        super().__init__(**facts, allow_abbrev=False)  # type: ignore[arg-type]
        # No option begins with a digit, so -3:9 is an offset, as -3 is.
        self._negative_number_matcher = re.compile(r"-\d")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Without it, an unknown option prints the usage of the parent parser. A family without a
        command prints its help."""
        if self._subparsers is not None and not args:
            self.print_help(sys.stderr)
            self.exit(2)
        known, unknown = super().parse_known_args(args, namespace)
        if hasattr(known, "files"):
            # Files after an option: argparse takes those before it only.
            known.files += [word for word in unknown if not word.startswith("-")]
            unknown = [word for word in unknown if word.startswith("-")]
        if unknown:
            option = unknown[0].partition("=")[0]
            meant = did_you_mean(option, self._option_string_actions)
            shown = (without_password(word) if "://" in word else word for word in unknown)
            self.error(f"unrecognized arguments: {' '.join(shown)}{meant}")
        return known, unknown


def _add_settings(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--listen", action="append", metavar="[NAME://]HOST:PORT", help=_LISTEN)
    add("--admin", metavar="HOST:PORT|off", help="where REST listens (localhost:8082)")
    add(
        "--raw",
        action="append",
        metavar="HOST:PORT",
        help="where the raw stream listens (off); repeatable",
    )
    add("--raw-topic", metavar="NAME", help="the topic of the raw stream (raw)")
    add("--data", metavar="DIR", help="the data folder (./ottla-data)")
    add(
        "--storage",
        metavar="URL",
        help="lmdb:// or files:// (in the data folder), files:///a/folder, "
        "postgresql://user@host/database?schema=ottla, memory://",
    )
    add("--flush", metavar="commit|interval|os", help="when data is flushed to disk (commit)")
    add("--log-requests", metavar="all|slow|errors|off", help="which requests are logged (errors)")
    add("--log-format", metavar="console|json", help="format of the log (console on a terminal)")
    add(
        "--testing",
        action="store_const",
        const="true",
        help="for tests: REST has /test/, with faults, time, reset and snapshots",
    )
    add(
        "--set",
        action="append",
        dest="set_settings",
        type=key_value,
        metavar="KEY=VALUE",
        help="any setting (`ottla config show` lists them)",
    )
    add("--config", metavar="FILE", help="a TOML file, or a server.properties")
