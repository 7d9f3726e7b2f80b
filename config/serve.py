"""The web server: ``python -m config.serve --port 8000``, the same under `make run`, in containers and tests.

Granian reads requests and writes answers outside of Python, which leaves a processor more for storing
answers. Each worker process answers as many requests at once as it has threads; a worker that dies is
started again.
"""

import argparse
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from granian import Granian
from granian.constants import HTTPModes, Interfaces, RuntimeModes
from granian.log import LogLevels

THREAD_RESTS_S = 600  # a thread with nothing to do ends, and its connection to the database with it
WATCH_S, FINISH_S = 1.0, 10


def settings() -> argparse.Namespace:
    """Address, processes and threads of the server."""
    parser = argparse.ArgumentParser(prog="python -m config.serve", description="Serve Obelus.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--workers", type=int, default=2, help="processes")
    parser.add_argument("--threads", type=int, default=8, help="requests at once in each process")
    return parser.parse_args()


def worker() -> Callable[..., Any]:
    """The application of one worker process, which ends with the one that started it."""
    threading.Thread(target=_end_with, args=[os.getppid()], daemon=True).start()
    from django.urls import resolve

    from config.wsgi import application

    resolve("/")  # imports all views (a second or two), which the first participants would otherwise wait for
    return application


def _end_with(parent: int) -> None:
    """A worker whose parent was killed would go on to hold the port, with the program of before."""
    while os.getppid() == parent:
        time.sleep(WATCH_S)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(FINISH_S)
    os._exit(1)


def main() -> None:
    """Serve until SIGTERM or Ctrl-C; requests that have begun are finished."""
    options = settings()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    from django.conf import settings as site  # after the module of settings is named

    from config.checks import refuse_unsafe_start

    refuse_unsafe_start()
    shutil.rmtree(site.VAR / "counters", ignore_errors=True)  # counts of the processes before this start
    Granian(
        "config.serve:worker",
        factory=True,
        address=options.host,
        port=options.port,
        interface=Interfaces.WSGI,
        workers=options.workers,
        blocking_threads=options.threads,
        blocking_threads_idle_timeout=THREAD_RESTS_S,
        runtime_mode=RuntimeModes.st,
        http=HTTPModes.http1,
        websockets=False,
        log_level=LogLevels.error,
        respawn_failed_workers=True,
        respawn_interval=0.5,
        workers_kill_timeout=FINISH_S,
    ).serve()


if __name__ == "__main__":
    main()
