"""The entry point of the executable that scripts/release builds.

The broker starts processes of its own as `python -P -m MODULE` and `python -P -c CODE`
(infrastructure/scanning/worker_processes.py, interfaces/embed/broker.py), by sys.executable, which
is this program: so it has these two options of Python.
"""

from __future__ import annotations

import runpy
import sys

from ottla._app.interfaces.main.__main__ import main

if sys.argv[1:2] == ["-P"]:
    _, _, option, what, *arguments = sys.argv
    sys.argv = [option, *arguments]
    if option == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(what, {"__name__": "__main__"})
else:
    sys.exit(main())
