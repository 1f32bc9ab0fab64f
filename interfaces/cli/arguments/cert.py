"""ottla cert ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_output
from interfaces.terminal.words import Commands, command, family


def add(commands: Commands) -> None:
    cert = family(commands, "cert", "show and renew the certificates of `ottla serve --secure`")
    show = command(
        cert,
        "show",
        "cert:show",
        "names, dates and fingerprints of certificates",
    )
    show.add_argument(
        "place", metavar="FOLDER|FILE", help="a data folder, or a PEM file with certificates"
    )
    add_output(show)

    renew = command(
        cert,
        "renew",
        "cert:renew",
        "make a new certificate of the broker",
        "Clients need nothing: it is signed by the same authority. A running broker uses it for "
        "new connections.",
    )
    renew.add_argument("folder", metavar="FOLDER", help="a data folder")
    renew.add_argument(
        "--name",
        dest="names",
        action="append",
        metavar="HOST",
        help="a host name or address of the broker; repeatable (those of the old certificate)",
    )
