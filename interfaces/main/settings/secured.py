"""Settings that `ottla serve --secure` leaves in the data folder, for this and all later starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from domain.configs.settings.access import STANDARD_AUTHORIZER
from infrastructure.security.authority import BROKER, FOLDER, replace_private
from interfaces.main.settings.files import read_settings_file
from interfaces.main.settings.origin import Given, SettingsError
from interfaces.terminal.properties import parse_properties

ADMIN = "admin"
_FILE = "broker.properties"
_KEYSTORE = "ssl.keystore.location"
_ADMIN_KEYSTORE = f"admin.{_KEYSTORE}"
_RAW_KEYSTORE = f"raw.{_KEYSTORE}"
_PROTOCOL = "SASL_SSL"
_CONTENT = f"""\
listeners={_PROTOCOL}://localhost:9092
ssl.keystore.type=PEM
# Beside this file.
{_KEYSTORE}={BROKER}
authorizer.class.name={STANDARD_AUTHORIZER}
super.users=User:{ADMIN}
admin.authentication=users
admin.ssl.keystore.type=PEM
{_ADMIN_KEYSTORE}={BROKER}
raw.ssl.keystore.type=PEM
{_RAW_KEYSTORE}={BROKER}
"""


def secured_settings(folder: Path | None, *, secure: bool = False) -> dict[str, Given]:
    """Empty for a folder that was not secured; `secure`: then those that it will have.

    Raises SettingsError: a file that cannot be read must not start a broker without users.
    """
    if folder is None:
        return {}
    path = folder / FOLDER / _FILE
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        if not secure:
            return {}
        content = parse_properties(_CONTENT).items()
        found = {name: Given(text, f"file {path}") for name, text in content}
    except OSError as failure:
        raise SettingsError(f"cannot read {path}: {failure.strerror}") from failure
    else:
        found = read_settings_file(path)
    for name in {_KEYSTORE, _ADMIN_KEYSTORE, _RAW_KEYSTORE} & found.keys():
        keystore = found[name]
        found[name] = Given(str(path.parent.absolute() / keystore.text), keystore.origin)
    return found


def with_secured(given: Mapping[str, Given], secured: Mapping[str, Given]) -> dict[str, Given]:
    """Listeners without a name have TLS and SASL."""
    joined = {**secured, **given}
    for name in ("listeners", "advertised.listeners"):
        if name in joined:
            joined[name] = Given(_named(joined[name].text), joined[name].origin)
    return joined


def write_secured(folder: Path) -> None:
    replace_private(folder / FOLDER / _FILE, _CONTENT.encode())


def _named(addresses: str) -> str:
    return ",".join(
        one if "://" in one or not one.strip() else f"{_PROTOCOL}://{one.strip()}"
        for one in addresses.split(",")
    )
