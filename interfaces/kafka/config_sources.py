"""The number on the wire for where a config's value comes from."""

from __future__ import annotations

from domain.configs.definition import Source

CONFIG_SOURCES: dict[Source, int] = {Source.TOPIC: 1, Source.BROKER: 4, Source.DEFAULT: 5}
