"""ottla topic config ..., ottla broker config ..."""

from __future__ import annotations

from interfaces.cli.arguments.common import add_client, add_dry_run, add_output
from interfaces.terminal.values import key_value
from interfaces.terminal.words import Commands, Parser, command, family


def add(commands: Commands) -> None:
    brokers = family(commands, "broker", "read and change the configs of brokers")
    add_config(brokers, "broker", "Without --broker, of each broker.")


def add_config(families: Commands, kind: str, more: str) -> None:
    """`kind` is topic or broker."""
    configs = family(families, "config", f"read and change {kind} configs")
    effect = "EFFECT: whether Ottla uses the config; yes for any other broker."
    get = command(
        configs,
        "get",
        "configs:get",
        f"print the configs of a {kind}",
        effect if kind == "topic" else "Without --broker, of the one that responds.",
    )
    _resource(get, kind)
    get.add_argument("keys", nargs="*", metavar="KEY", help="these configs only")
    get.add_argument(
        "--set-only", action="store_true", help=f"only configs that are set for the {kind}"
    )
    add_output(get)
    add_client(get)
    put = command(configs, "set", "configs:put", f"set configs of a {kind}", more)
    _resource(put, kind)
    put.add_argument("values", nargs="+", type=config, metavar="KEY=VALUE")
    add_dry_run(put)
    add_client(put)
    short = f"reset configs of a {kind} to their defaults"
    unset = command(configs, "unset", "configs:unset", short, "" if kind == "topic" else more)
    _resource(unset, kind)
    unset.add_argument("keys", nargs="+", metavar="KEY")
    add_dry_run(unset)
    add_client(unset)


def _resource(parser: Parser, kind: str) -> None:
    parser.set_defaults(kind=kind)
    if kind == "topic":
        parser.add_argument("name", metavar="TOPIC")
    else:
        parser.add_argument("--broker", dest="name", metavar="ID", help="id of a broker")


def config(text: str) -> tuple[str, str]:
    """kafka-configs.sh takes lists in brackets: cleanup.policy=[compact,delete]."""
    name, value = key_value(text)
    is_list = value.startswith("[") and value.endswith("]")
    return name, value[1:-1] if is_list else value
