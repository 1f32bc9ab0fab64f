"""The jobs of `ottla spark ...`, a file or a folder each; all of them end in a result."""
