"""The words of the command line; what they mean is elsewhere."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence

from interfaces.cli.arguments import add_commands
from interfaces.embed import __version__
from interfaces.main.settings.origin import COMMAND_LINE, Given
from interfaces.spark.arguments import add_commands as add_spark
from interfaces.terminal.values import key_value

_LISTEN = "where clients connect (localhost:9092); again, with another NAME, for one more"

# Options that are settings by another name.
_OPTIONS = {
    "admin": "admin.listeners",
    "data": "log.dirs",
    "storage": "storage",
    "flush": "flush",
    "log_requests": "log.requests",
    "log_format": "log.format",
}


def parser() -> argparse.ArgumentParser:
    top = _parser("ottla", "A Kafka-compatible broker.")
    top.add_argument("--version", action="version", version=f"ottla {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=_subparser)
    serve = commands.add_parser("serve", help="run the broker", description="Runs the broker.")
    _add_settings(serve)
    serve.add_argument("--ready-file", metavar="FILE", help="written once clients can be served")
    config = commands.add_parser("config", help="look at the settings")
    config_commands = config.add_subparsers(
        dest="config_command", metavar="COMMAND", required=True, parser_class=_subparser
    )
    show = config_commands.add_parser("show", help="every setting and its value, as TOML")
    _add_settings(show)
    show.add_argument("--origin", action="store_true", help="say where each value comes from")
    show.add_argument(
        *("-o", "--output"),
        choices=("toml", "table", "json", "yaml"),
        default="toml",
        help="how to print it (toml)",
    )
    commands.add_parser("demo", help="broker, producer and consumer: the thirty-second tour")
    generate = commands.add_parser("generate", help="a dashboard, alerts, files to run it by")
    generate.add_argument("what", choices=("grafana", "prometheus", "alerts", "systemd", "compose"))
    generate.add_argument(
        "--admin", metavar="HOST:PORT", default="localhost:8082", help="where the metrics are"
    )
    add_commands(commands)
    add_spark(commands)
    completion = commands.add_parser("completion", help="let a shell complete these words")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), metavar="bash|zsh|fish")
    return top


def settings_given(arguments: argparse.Namespace) -> dict[str, Given]:
    """The settings among the arguments; an option of its own wins over --set."""
    found = {
        name: Given(text, f"{COMMAND_LINE} --set") for name, text in arguments.set_settings or ()
    }
    if arguments.listen:
        found["listeners"] = Given(",".join(arguments.listen), f"{COMMAND_LINE} --listen")
    for option, name in _OPTIONS.items():
        text = getattr(arguments, option)
        if text is not None:
            found[name] = Given(text, f"{COMMAND_LINE} --{option.replace('_', '-')}")
    return found


def _parser(prog: str, description: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(prog=prog, description=description, allow_abbrev=False)


class _subparser(argparse.ArgumentParser):
    def __init__(self, **facts: object) -> None:
        super().__init__(**facts, allow_abbrev=False)  # type: ignore[arg-type]
        # No option begins with a digit, so -3:9 is an offset, as -3 is.
        self._negative_number_matcher = re.compile(r"-\d")

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Left to the parser above, an unknown option is answered with the usage of that one.
        Who names a family and no command wants to know what there is."""
        if self._subparsers is not None and not args:
            self.print_help(sys.stderr)
            self.exit(2)
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown


def _add_settings(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--listen", action="append", metavar="[NAME://]HOST:PORT", help=_LISTEN)
    add("--admin", metavar="HOST:PORT|off", help="where REST listens (localhost:8082)")
    add("--data", metavar="DIR", help="the data folder (./ottla-data)")
    add("--storage", metavar="URL", help="lmdb:// (the data folder), lmdb:///a/folder or memory://")
    add("--flush", metavar="commit|interval|os", help="when data is forced to the disk (commit)")
    add("--log-requests", metavar="all|slow|errors|off", help="which requests are logged (errors)")
    add("--log-format", metavar="console|json", help="how log lines look (console on a terminal)")
    add(
        "--set",
        action="append",
        dest="set_settings",
        type=key_value,
        metavar="KEY=VALUE",
        help="any setting; `ottla config show` has them all",
    )
    add("--config", metavar="FILE", help="a TOML file, or a server.properties")
