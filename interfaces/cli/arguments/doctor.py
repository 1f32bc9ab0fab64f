"""ottla doctor"""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client, add_output
from interfaces.terminal.words import Commands, command


def add(commands: Commands) -> None:
    doctor = command(
        commands,
        "doctor",
        "doctor:doctor",
        "say why a client cannot connect",
        "Looks up names, connects, listens to what speaks behind the port, asks which versions it "
        "knows, and tries every address that clients are sent to. Each finding is a line with its "
        "remedy; the exit code is 1 if there was one.",
    )
    add_output(doctor)
    add_client(doctor)
