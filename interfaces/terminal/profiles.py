"""Profiles: named clusters in a file; and the servers and client options of a command.

    current = "prod"

    [profiles.prod]
    bootstrap = "kafka-1:9092,kafka-2:9092"
    admin = "ottla.example:8082"

    [profiles.prod.options]
    "security.protocol" = "SASL_SSL"
    "sasl.password" = "${env:KAFKA_PASSWORD}"

A client option may be `${env:NAME}` or `${file:PATH}`, as with Kafka's config providers.
`--command-config` takes a properties file of a Java client, whose options are translated.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from interfaces.terminal.java_options import for_librdkafka
from interfaces.terminal.properties import parse_properties

CLIENT_ID = "ottla-cli"
_BOOTSTRAP_VARIABLE = "OTTLA_BOOTSTRAP"
_DEFAULT_BOOTSTRAP = "localhost:9092"
_BOOTSTRAP_KEYS = ("bootstrap.servers", "metadata.broker.list", "brokers")
_REFERENCE = re.compile(r"\$\{(env|file):([^}]+)\}")


class Profile(NamedTuple):
    bootstrap: str | None = None
    admin: str | None = None
    options: Mapping[str, str] = {}


class Profiles(NamedTuple):
    all: dict[str, Profile]
    #: The name of the profile in use.
    current: str | None = None

    def find(self, name: str) -> Profile:
        if name not in self.all:
            known = ", ".join(self.all) or "none"
            raise ValueError(f"profile {name} does not exist (profiles: {known})")
        return self.all[name]


def connection(parsed: argparse.Namespace) -> tuple[str, dict[str, str]]:
    """The servers and the client options: of the command line, its profile, the environment, or the
    profile in use. Raises ValueError with a message for users."""
    given = {**_of_file(parsed.command_config), **dict(parsed.client_options)}
    servers: str | None = parsed.bootstrap_server or _servers(given)
    # The options of the profile in use are not for other servers.
    is_named = servers or os.environ.get(_BOOTSTRAP_VARIABLE) or parsed.command_config
    profile = _profile(parsed, use_current=not is_named)
    servers = servers or profile.bootstrap or _servers(profile.options)
    servers = servers or os.environ.get(_BOOTSTRAP_VARIABLE) or _DEFAULT_BOOTSTRAP
    options = {
        key: resolved(key, text)
        for key, text in {**profile.options, **given}.items()
        if key not in _BOOTSTRAP_KEYS
    }
    return resolved("bootstrap.servers", servers), options


def _of_file(path: Path | None) -> dict[str, str]:
    """For librdkafka. Errors have no value of the file, which may be a password."""
    if path is None:
        return {}
    try:
        return for_librdkafka(parse_properties(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError) as failure:
        raise ValueError(f"{path}: {_reason(failure)}") from None
    except ValueError as wrong:
        raise ValueError(f"{path}: {wrong}") from None


def _servers(options: Mapping[str, str]) -> str | None:
    return next((options[key] for key in _BOOTSTRAP_KEYS if options.get(key)), None)


def admin_address(parsed: argparse.Namespace) -> str | None:
    """None if only the broker knows it."""
    if parsed.admin is not None or parsed.bootstrap_server is not None:
        given: str | None = parsed.admin
        return given
    is_named = os.environ.get(_BOOTSTRAP_VARIABLE) or parsed.command_config
    return _profile(parsed, use_current=not is_named).admin


def _profile(parsed: argparse.Namespace, *, use_current: bool) -> Profile:
    if parsed.profile is None and not use_current:
        return Profile()
    profiles = read_profiles()
    name = profiles.current if parsed.profile is None else parsed.profile
    return Profile() if name is None else profiles.find(name)


def resolved(name: str, text: str) -> str:
    reference = _REFERENCE.fullmatch(text)
    if reference is None:
        return text
    kind, where = reference.groups()
    if kind == "file":
        try:
            return Path(where).expanduser().read_text("utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as failure:
            raise ValueError(f"{name}: {where}: {_reason(failure)}") from None
    if where not in os.environ:
        raise ValueError(f"{name}: the environment variable {where} is not set")
    return os.environ[where]


def profiles_file() -> Path:
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "ottla" / "profiles.toml"


def read_profiles() -> Profiles:
    file = profiles_file()
    if not file.exists():
        return Profiles({})
    import tomllib

    try:
        found = tomllib.loads(file.read_text("utf-8"))
        profiles = {name: _checked(name, one) for name, one in found.get("profiles", {}).items()}
        current = found.get("current")
        if not isinstance(current, str | None):
            raise ValueError("current is not a text")
        return Profiles(profiles, current)
    except (OSError, UnicodeDecodeError) as failure:
        raise ValueError(f"{file}: {_reason(failure)}") from None
    except (AttributeError, ValueError) as wrong:
        raise ValueError(f"{file}: {wrong}") from None


def _checked(name: str, given: dict[str, Any]) -> Profile:
    texts = {key: one for key, one in given.items() if key != "options"}
    options: dict[str, Any] = given.get("options", {})
    for key, text in (*texts.items(), *options.items()):
        if not isinstance(text, str):
            raise ValueError(f"{key} of profile {name} is not a text")
    for key in texts.keys() - {"bootstrap", "admin"}:
        raise ValueError(f"profile {name} has an unknown key {key}")
    return Profile(**texts, options=options)


def write_profiles(profiles: Profiles) -> None:
    """Readable for its owner only, because options may be passwords. Raises OSError, and ValueError
    for a text that is not Unicode."""
    lines = [] if profiles.current is None else [f"current = {_quoted(profiles.current)}"]
    for name, profile in profiles.all.items():
        table = f"profiles.{_quoted(name)}"
        lines += ["", f"[{table}]"]
        given = (("bootstrap", profile.bootstrap), ("admin", profile.admin))
        lines += [f"{key} = {_quoted(text)}" for key, text in given if text is not None]
        lines += ["", f"[{table}.options]"]
        lines += [f"{_quoted(key)} = {_quoted(text)}" for key, text in profile.options.items()]
    try:
        written = ("\n".join(lines) + "\n").encode()
    except UnicodeEncodeError:
        # Without the text, which may be a password.
        raise ValueError("a name or value of the profile is not UTF-8") from None
    file = profiles_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
        opened.write(written)
    partial.replace(file)


def _quoted(text: str) -> str:
    """JSON is valid TOML here, except for DEL and surrogate pairs."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _reason(failure: OSError | UnicodeDecodeError) -> str:
    return (isinstance(failure, OSError) and failure.strerror) or str(failure)
