"""The `ottla` command. A subcommand imports its modules when it runs."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from interfaces.main.arguments import parser, settings_given
from interfaces.main.settings.origin import COMMAND_LINE, Given, SettingsError
from interfaces.terminal.endings import INTERRUPTED, USAGE, after_broken_pipe

if TYPE_CHECKING:
    from interfaces.main.settings.sources import Settings


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    top = parser(only_serve=words[:1] == ["serve"])
    parsed = top.parse_args(words)
    try:
        if parsed.command == "serve":
            return _serve(parsed)
        if parsed.command == "config":
            return _config_show(parsed)
        if parsed.command == "demo":
            return _demo(parsed.raw)
        if parsed.command == "generate":
            return _generate(parsed)
        if parsed.command == "completion":
            return _completion(top, parsed.shell)
        if parsed.command == "spark":
            from interfaces.spark.running import run as run_job

            return run_job(parsed)
        if "runs" in parsed:
            from interfaces.cli.running import run

            if "broker_store" in parsed:
                parsed.broker_store = _store(parsed)

            return run(parsed)
    except SettingsError as refusal:
        print(f"ottla: {refusal}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return after_broken_pipe()
    top.print_help()
    return 0


def _load(parsed: argparse.Namespace, *, secure: bool = False) -> Settings:
    from interfaces.main.settings.sources import load_settings

    file = Path(parsed.config) if parsed.config else None
    return load_settings(settings_given(parsed), os.environ, file, secure=secure)


def _store(parsed: argparse.Namespace) -> str:
    """The URL of the store that `ottla serve` would open, in the same environment."""
    from interfaces.main.settings.sources import load_settings

    options = (("data", "log.dirs", parsed.data), ("storage", "storage", parsed.storage))
    given = {
        name: Given(text, f"{COMMAND_LINE} --{option}")
        for option, name, text in options
        if text is not None
    }
    return load_settings(given, os.environ).storage.url


def _serve(parsed: argparse.Namespace) -> int:
    settings = _load(parsed, secure=parsed.secure)
    if parsed.secure:
        from interfaces.main.secure import first_steps, secure

        password = secure(settings)
        if password is not None:
            print(first_steps(settings, password), flush=True)
    if parsed.exit_with_stdin:
        from interfaces.embed.child import exit_with_stdin

        exit_with_stdin()
    from interfaces.main.container.app import App
    from interfaces.main.in_place import prepared
    from interfaces.main.serve import run

    with prepared(settings, parsed.read_only, parsed.skip_unsupported):
        return run(settings, Path(parsed.ready_file) if parsed.ready_file else None, App)


def _config_show(parsed: argparse.Namespace) -> int:
    from domain.configs.broker import BrokerConfig
    from interfaces.cli.config_show import Row, as_json, as_rows, as_toml
    from interfaces.cli.output import show_rows

    settings = _load(parsed)
    rows = [
        Row(row, settings.broker.value(name), settings.origin(name))
        for name, row in BrokerConfig.definitions.items()
    ]
    if parsed.output in ("table", "yaml"):
        show_rows(as_rows(rows), parsed.output, ("name", "value", "origin"))
    else:
        shown = as_json(rows) if parsed.output == "json" else as_toml(rows, origin=parsed.origin)
        print(shown, flush=True)
    for warning in settings.warnings:
        print(f"ottla: {warning}", file=sys.stderr)
    return 0


def _demo(raw: bool) -> int:
    from interfaces.main.demo import run

    return run(raw)


def _generate(parsed: argparse.Namespace) -> int:
    from interfaces.cli.failures import UsageError
    from interfaces.cli.generate import MAKE

    try:
        made = MAKE[parsed.what](parsed.admin)
    except UsageError as refusal:
        print(f"ottla: {refusal}", file=sys.stderr)
        return USAGE
    print(made.rstrip("\n"), flush=True)
    return 0


def _completion(top: argparse.ArgumentParser, shell: str) -> int:
    import shtab

    print(shtab.complete(top, shell), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
