"""ottla cert ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_output
from interfaces.terminal.words import Commands, Parser, command, family


def add(commands: Commands) -> None:
    cert = family(commands, "cert", "make, show and renew certificates of the broker")
    create = command(
        cert,
        "create",
        "cert:create",
        "make an authority, and a certificate of the broker",
        "In FOLDER/tls: ca.pem is for clients (ssl.ca.location), broker.pem for the broker "
        "(ssl.keystore.location, ssl.keystore.type=PEM), and ca.key signs new certificates.",
    )
    create.add_argument("folder", metavar="FOLDER", help="a data folder")
    _add_names(create, "localhost, 127.0.0.1, ::1 and the name of this host")

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
    _add_names(renew, "those of the old certificate")


def _add_names(parser: Parser, default: str) -> None:
    parser.add_argument(
        "--name",
        dest="names",
        action="append",
        metavar="HOST",
        help=f"a host name or address of the broker; repeatable ({default})",
    )
