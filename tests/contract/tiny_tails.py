"""Tails in PostgreSQL that are full with each commit."""

from __future__ import annotations

import pytest

#: Below the size of any entry: each commit has a tail of its own.
TINY = 1
#: It has one response.
OF_THE_COMMIT = 1

later = pytest.mark.parametrize("relayed", ["later"], indirect=True)
