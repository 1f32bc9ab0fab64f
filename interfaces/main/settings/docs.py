"""docs/settings.md, written from the tables: `python -m interfaces.main.settings.docs`."""

from __future__ import annotations

from collections.abc import Iterable

from domain.configs.broker import BrokerConfig
from domain.configs.group import GROUP_CONFIGS
from domain.configs.settings.definition import INT_MAX, LONG_MAX, Definition, Kind
from domain.configs.topic import TOPIC_CONFIGS

_HEAD = """\
# Settings

Written by `python -m interfaces.main.settings.docs` from the tables in `domain/configs/`; change
those, not this.

## Where a value comes from

The first source that has it: the command line, the environment, the settings file (`--config`),
the default. `ottla config show --origin` prints every value and where it came from.

- Command line: `--set num.partitions=3`, and `--listen` (listeners), `--data` (log.dirs),
  `--admin` (admin.listeners), `--storage`, `--flush`, `--log-requests`, `--log-format`.
- Environment: `OTTLA_NUM_PARTITIONS=3`, or `KAFKA_NUM_PARTITIONS=3` as in Kafka's own image: one
  underscore is a dot, two are an underscore, three a hyphen. `OTTLA_` wins; empty is not set.
- File: TOML, keys in quotes (`"num.partitions" = 3`) or as tables; or a `server.properties` as it
  is, known by its suffix or by not being TOML.

`broker.id` is read as `node.id` and `log.dir` as `log.dirs`. A key that is not in the table below,
or is without effect there, is named in one warning, so a file made for Kafka works as it is; its
CONTROLLER listeners are not opened. A value that is not allowed stops the start with exit code 2.

Settings that are marked *dynamic* may also change while the broker runs, over the Kafka protocol
(`kafka-configs`, an admin client): for this broker, or for all. What was set so is kept in the
store and goes before all sources above, that of this broker first; DescribeConfigs tells it.
`ottla config show` does not open the store and prints what the sources above say.

*Effect*: **yes**, it does what it says; **in part**, it does some of it and says what not; **not
yet**, it is stored and described, and not built yet; **none**, it is stored and described for the
tools that set it, and means nothing here.

A client that sets one without full effect is warned: the broker logs `config_without_effect` with
the resource and the names of the configs, `ottla topic` prints a line on stderr, REST answers with
`warnings` ([rest.md](rest.md)), and the documentation in DescribeConfigs says it to every tool. The
default is no reason to warn, and neither is `-1` for retention by time: nothing is deleted today.
"""

_TOPICS = """
## Topic configs

Given when a topic is created, and changed at any time; what a topic does not set comes from the
broker setting named under *default from*. The list, the defaults and the bounds are
those of Kafka 4.2.
"""

_GROUPS = """\
## Group configs

Of groups of the consumer protocol, set for a group by its id. They lie within the bounds of the
broker's settings `group.consumer.min.*` and `group.consumer.max.*`.
"""


def render() -> str:
    return "\n".join(
        [
            *(_HEAD, "## Broker settings", "", *_broker_table()),
            *(_TOPICS, *_defaulting_table(TOPIC_CONFIGS.values())),
            *(_GROUPS, *_defaulting_table(GROUP_CONFIGS.values())),
        ]
    )


def _broker_table() -> Iterable[str]:
    yield "| setting | default | allowed | effect | what it says |"
    yield "| --- | --- | --- | --- | --- |"
    for row in BrokerConfig.definitions.values():
        doc = f"*Dynamic.* {row.doc}" if row.dynamic else row.doc
        facts = (_code(row.name), _default(row), _allowed(row), row.effect.value, doc)
        yield f"| {' | '.join(facts)} |"


def _defaulting_table(rows: Iterable[Definition]) -> Iterable[str]:
    yield "| config | default | default from | allowed | effect | what it says |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in rows:
        synonyms = ", ".join(map(_code, row.synonyms))
        facts = (_code(row.name), _default(row), synonyms, _allowed(row), row.effect.value, row.doc)
        yield f"| {' | '.join(facts)} |"
    yield ""


def _default(row: Definition) -> str:
    text = row.format(row.default)
    if text is None or not text:
        return "" if row.kind is Kind.LIST else "not set"
    if row.default == LONG_MAX or row.default == INT_MAX:
        return f"{_code(text)} (no bound)"
    return f"{_code(text)} {row.unit}".rstrip()


def _allowed(row: Definition) -> str:
    return (
        row.allowed()
        .replace(f" and {LONG_MAX}", " and more")
        .replace(f"between {row.minimum} and {INT_MAX}", f"of at least {row.minimum}")
    )


def _code(text: str) -> str:
    return f"`{text}`"


if __name__ == "__main__":
    print(render(), end="")
