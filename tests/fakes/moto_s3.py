"""The S3 of moto as a process: prints its port, and serves until the end of its input.

It checks no signatures, and has all data in memory.
"""

from __future__ import annotations

import logging
import os
import sys
import threading

#: So that few objects have several pages.
os.environ["MOTO_S3_DEFAULT_MAX_KEYS"] = "3"

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server


def main() -> None:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    application = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", 0, application, threaded=True)
    print(server.port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
