"""Regular expressions that clients send."""

from __future__ import annotations

from collections.abc import Callable

#: Whether the whole of a name matches. Takes time in proportion to the name, whoever wrote the
#: expression.
Matches = Callable[[str], bool]

#: Raises InvalidRegularExpression, with the reason as its message.
CompilePattern = Callable[[str], Matches]
