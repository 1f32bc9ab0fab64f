"""ottla profile ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_admin, add_output
from interfaces.terminal.words import Commands, add_servers, command, family


def add(commands: Commands) -> None:
    profiles = family(commands, "profile", "named clusters")
    create = command(
        profiles,
        "create",
        "profile:create",
        "create a profile and use it",
        "In $XDG_CONFIG_HOME/ottla/profiles.toml. Commands use it unless -b, -X bootstrap.servers, "
        "--profile or $OTTLA_BOOTSTRAP names another cluster.",
    )
    create.add_argument("name", metavar="NAME")
    add_servers(create)
    add_admin(create)
    listed = command(
        profiles, "list", "profile:list_profiles", "list profiles", "Without values of options."
    )
    add_output(listed)
    use = command(profiles, "use", "profile:use", "use a profile for the next commands")
    use.add_argument("name", metavar="NAME")
    delete = command(profiles, "delete", "profile:delete", "delete a profile")
    delete.add_argument("name", metavar="NAME")
