"""docs/settings.md, written from the tables: `python -m interfaces.main.settings.docs`."""

from __future__ import annotations

from collections.abc import Iterable

from domain.configs.broker import BrokerConfig
from domain.configs.group import GROUP_CONFIGS
from domain.configs.settings.absent import ABSENT
from domain.configs.settings.definition import INT_MAX, LONG_MAX, Definition, Kind
from domain.configs.topic_table import TOPIC_CONFIGS

_HEAD = """\
# Settings

<!-- written by scripts/docs from the tables in domain/configs -->

## Where a value comes from

The first source that has it: command line, environment, settings file (`--config`), default.
`ottla config show --origin` prints every value and its source.

- Command line: `--set num.partitions=3`, and `--listen` (listeners), `--data` (log.dirs),
  `--admin` (admin.listeners), `--storage`, `--flush`, `--log-requests`, `--log-format`.
- Environment: `OTTLA_NUM_PARTITIONS=3`, or `KAFKA_NUM_PARTITIONS=3` as in Kafka's own image: one
  underscore is a dot, two are an underscore, three a hyphen. `OTTLA_` wins; empty means not set.
- File: TOML, keys in quotes (`"num.partitions" = 3`) or as tables; or an unchanged
  `server.properties`, detected by its suffix or because it is not TOML.

`broker.id` is `node.id` and `log.dir` is `log.dirs`. One warning names keys without effect and the
reasons, another one unknown keys; so a file for Kafka works unchanged. Its CONTROLLER listeners are
not opened. A value that is not allowed and an unknown name on the command line stop the start, with
exit code 2.

*Dynamic* settings may change while the broker runs, over the Kafka protocol (`kafka-configs`, an
admin client), for this broker or for all brokers. They are persisted and override all sources
above, the one of this broker first. `ottla config show` does not open the store and does not show
them; DescribeConfigs does.

*Effect*: **yes**; or **none**, with the reason: it is stored and described for tools that set it.

When a client sets a config without effect, the broker logs `config_without_effect`, `ottla
topic` prints a line on stderr, a REST response has `warnings` ([rest.md](rest.md)), and
DescribeConfigs has it in the documentation. Defaults cause no warning.
"""

_TOPICS = """
## Topic configs

Set when a topic is created, and changed at any time. A topic without a config has the value of the
broker setting under *default from*. Names, defaults and bounds are those of Kafka 4.2.
"""

_GROUPS = """\
## Group configs

For groups of the consumer protocol, by group id, within the broker settings `group.consumer.min.*`
and `group.consumer.max.*`.
"""


_ABSENT = """\
## Settings of Kafka without effect

Ottla does not have these broker settings of Kafka 4.2. A warning names those that are set; a client
that alters one gets INVALID_CONFIG (40).
"""


def render() -> str:
    return "\n".join(
        [
            *(_HEAD, "## Broker settings", "", *_broker_table()),
            *(_TOPICS, *_defaulting_table(TOPIC_CONFIGS.values())),
            *(_GROUPS, *_defaulting_table(GROUP_CONFIGS.values())),
            *(_ABSENT, *_absent_table()),
        ]
    )


def _broker_table() -> Iterable[str]:
    yield "| setting | default | allowed | effect | description |"
    yield "| --- | --- | --- | --- | --- |"
    for row in BrokerConfig.definitions.values():
        doc = f"*Dynamic.* {row.doc}" if row.dynamic else row.doc
        facts = (_code(row.name), _default(row), _allowed(row), _effect(row), doc)
        yield f"| {' | '.join(facts)} |"


def _defaulting_table(rows: Iterable[Definition]) -> Iterable[str]:
    yield "| config | default | default from | allowed | effect | description |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in rows:
        synonyms = ", ".join(map(_code, row.synonyms))
        facts = (_code(row.name), _default(row), synonyms, _allowed(row), _effect(row), row.doc)
        yield f"| {' | '.join(facts)} |"
    yield ""


def _absent_table() -> Iterable[str]:
    yield "| why | settings |"
    yield "| --- | --- |"
    for reason, names in ABSENT.items():
        shown = (_code(f"{name}*" if name.endswith(".") else name) for name in names)
        yield f"| {reason} | {', '.join(shown)} |"


def _effect(row: Definition) -> str:
    word = row.effect.word
    return word if word == row.effect.value else f"{word}: {row.effect.value}"


def _default(row: Definition) -> str:
    text = row.format(row.default)
    if text is None or not text:
        return "" if row.kind is Kind.LIST else "not set"
    if row.default == LONG_MAX or row.default == INT_MAX:
        return f"{_code(text)} (no limit)"
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
