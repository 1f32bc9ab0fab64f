"""Regular expressions that clients send."""

from __future__ import annotations

from collections.abc import Callable

#: Whether a whole name matches, in time linear to the name, whatever the expression is.
Matches = Callable[[str], bool]

#: Raises InvalidRegularExpression, with the reason as its message.
CompilePattern = Callable[[str], Matches]
